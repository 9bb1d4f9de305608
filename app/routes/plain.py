"""Routes without FastAPI's dependencies: the endpoint reads the request and gives the answer itself."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute


class PlainRoute(APIRoute):
    """Calls the endpoint with the request and the path's parameters, as text.

    Solving dependencies that are not there costs more than judging a number.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What FastAPI calls for a request."""
        endpoint = self.endpoint

        async def handle(request: Request) -> Response:
            response: Response = await endpoint(request=request, **request.path_params)
            return response

        return handle
