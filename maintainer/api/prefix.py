"""The path below which a proxy serves the API and the page."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class Prefix:
    """ASGI middleware that takes the prefix off a request's path.

    A request without it is served too: probes and other pods come past the proxy.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        path = scope.get("path", "")
        if self._prefix and (path == self._prefix or path.startswith(f"{self._prefix}/")):
            raw: bytes = scope.get("raw_path") or path.encode()
            length = len(self._prefix)  # the prefix has only characters that need no encoding
            scope = {
                **scope,
                "path": path[length:] or "/",
                "raw_path": raw[length:] or b"/",
            }
        await self.app(scope, receive, send)
