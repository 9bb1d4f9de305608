"""The application: `create_app(settings)` puts it together, `app` is what `uvicorn app.main:app` serves."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from fastapi import FastAPI
from starlette.types import ASGIApp

from app.auth import Doorkeeper
from app.edge import Edge
from app.errors import install_handlers
from app.logs import configure_logging
from app.openapi import openapi_document
from app.pages import routes as pages
from app.routes import (
    audit,
    catalog,
    docs,
    estimates,
    export,
    groups,
    health,
    labels,
    review,
    rollouts,
    sandbox,
    verify,
)
from app.service import VERSION, Service
from app.settings import Settings
from app.shutdown import on_shutdown_signal
from verifiers.base import Verifier

_GC_THRESHOLD: Final = 50_000


def create_app(settings: Settings | None = None, verifiers: Sequence[Verifier] | None = None) -> FastAPI:
    """The application under these settings (by default: the environment's), with these verifiers."""
    settings = settings or Settings()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        configure_logging(settings.log_level)
        service = Service(settings, verifiers)
        await service.start()
        app.state.service = service
        _spare_the_collector()
        try:
            with on_shutdown_signal(service.refuse_more):
                yield
        finally:
            await service.close()

    app = _Application(
        settings,
        title="goldcheck",
        version=VERSION,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    install_handlers(app)
    api = (verify, groups, rollouts, catalog, sandbox, audit, export, labels, estimates, review, health)
    for routes in (*api, docs, pages):
        app.router.routes.extend(routes.router.routes)  # `include_router` would look each path up twice
    app.openapi = functools.cache(functools.partial(openapi_document, app))  # type: ignore[method-assign]
    return app


class _Application(FastAPI):
    """Has the edge around everything, also around the handler that answers faults of ours."""

    def __init__(self, settings: Settings, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._settings = settings

    def build_middleware_stack(self) -> ASGIApp:
        """What serves a request. Middleware that is merely added stands inside of that handler."""
        return Edge(
            super().build_middleware_stack(),
            Doorkeeper(self._settings),
            log_requests=self._settings.log_level == "debug",
        )


def _spare_the_collector() -> None:
    """A batch makes many objects and no cycles: look for cycles rarely, and never among what is there now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD, 20, 20)


app: Final = create_app()
