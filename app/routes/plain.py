"""Routes without FastAPI's dependencies: the endpoint reads the request and gives the answer itself."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from audit.keys import column_text


class PlainRoute(APIRoute):
    """Calls the endpoint with the request and the path's parameters, as texts that any database takes.

    Solving dependencies that are not there costs more than judging a number.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What FastAPI calls for a request."""
        endpoint = self.endpoint

        async def handle(request: Request) -> Response:
            named = {name: column_text(text) for name, text in request.path_params.items()}
            response: Response = await endpoint(request=request, **named)
            return response

        return handle
