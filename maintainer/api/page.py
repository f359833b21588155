"""The built web page.

Hashed assets are cached for a year. index.html is never cached, and answers every path that the
page itself routes.
"""

from __future__ import annotations

import mimetypes
from http import HTTPStatus
from pathlib import Path

from fastapi import Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse

PAGE_DIRECTORY = Path(__file__).parent / "page"

# First segments of paths that are not pages: a missing file there is a 404.
_NOT_PAGES = ("api", "assets")
# Vite adds a hash of the contents to the name of each asset.
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_NOT_BUILT = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>iceberg-maintainer</title><h1>The "
    "web page is not built</h1>"
    "<p>Run <code>make web</code> and reload. The API works without it: <a href=/docs>/docs</a>."
)


class Page:
    """Serves a directory that vite has built."""

    def __init__(self, directory: Path, prefix: str = "") -> None:
        self._directory = directory.resolve()
        self._prefix = prefix

    def serve(self, request: Request) -> Response:
        """The file that the path names, or index.html.

        HTTPException for a path that is neither a file nor one of the page's routes.
        """
        path = request.url.path.lstrip("/")
        first = path.partition("/")[0]
        if request.method not in {"GET", "HEAD"}:
            raise HTTPException(
                HTTPStatus.METHOD_NOT_ALLOWED if first != "api" else HTTPStatus.NOT_FOUND,
                headers={"Allow": "GET, HEAD"} if first != "api" else None,
            )
        file = self._find(path) if first != "api" else None
        if file is not None and file.name != "index.html":
            return _send_file(request, file, _FOR_A_YEAR if first == "assets" else "no-cache")
        if first in _NOT_PAGES:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        index = self._find("index.html")
        if index is None:
            return HTMLResponse(
                _NOT_BUILT,
                HTTPStatus.NOT_FOUND if path else HTTPStatus.OK,
                {"Cache-Control": "no-store"},
            )
        return HTMLResponse(self._write_index(index), headers={"Cache-Control": "no-cache"})

    def _write_index(self, index: Path) -> str:
        """Put the prefix in front of the page's addresses, and write it down for the page."""
        text = index.read_text(encoding="utf-8").replace('="/', f'="{self._prefix}/')
        return text.replace('name="prefix" content=""', f'name="prefix" content="{self._prefix}"')

    def _find(self, path: str) -> Path | None:
        try:
            file = (self._directory / path).resolve()
            return file if file.is_relative_to(self._directory) and file.is_file() else None
        except (OSError, ValueError):  # a name that the file system refuses
            return None


def _send_file(request: Request, file: Path, cache_control: str) -> Response:
    media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    headers = {"Cache-Control": cache_control, "Vary": "Accept-Encoding"}
    compressed = file.with_name(file.name + ".gz")
    if "gzip" in request.headers.get("accept-encoding", "") and compressed.is_file():
        return FileResponse(
            compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=media_type
        )
    return FileResponse(file, headers=headers, media_type=media_type)
