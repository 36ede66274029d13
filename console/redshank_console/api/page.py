"""Serves the built page."""

import mimetypes
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from starlette.exceptions import HTTPException

_SAFE = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_ASSETS = "assets"
_MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Redshank</title>
<h1>The page is not built</h1>
<p>Run <code>make install</code> in Redshank's folder, then reload. The API and the command line
work without it: <code>redshank ws ls</code>.</p></html>
"""


class PageRoutes:
    """Files of one folder. Names below assets carry a hash, so they never change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = root_files(folder)

    def router(self) -> APIRouter:
        """The routes, to stand at the root."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/", self.index, methods=["GET", "HEAD"])
        router.add_api_route(f"/{_ASSETS}/{{name:path}}", self.asset, methods=["GET", "HEAD"])
        for path in self._files:
            router.add_api_route(path, self.file, methods=["GET", "HEAD"])
        return router

    async def index(self) -> Response:
        """The page, never kept by a browser; what to do where it was not built."""
        index = self._folder / "index.html"
        if not index.is_file():
            return HTMLResponse(_MISSING, 503, headers={**_SAFE, "Cache-Control": "no-store"})
        return FileResponse(index, headers={**_SAFE, "Cache-Control": "no-cache"})

    async def asset(self, name: str) -> Response:
        """A file below assets, kept for a year."""
        assets = (self._folder / _ASSETS).resolve()
        file = (assets / name).resolve() if "\0" not in name else assets
        if not file.is_relative_to(assets) or not file.is_file():
            raise HTTPException(404)
        return _served(file, "public, max-age=31536000, immutable")

    async def file(self, request: Request) -> Response:
        """A file beside the page."""
        file = self._folder / request.url.path.lstrip("/")
        if not file.is_file():
            raise HTTPException(404)
        return _served(file, "no-cache")


def root_files(folder: Path) -> tuple[str, ...]:
    """The paths of the files beside the page itself, such as /icon.svg."""
    if not folder.is_dir():
        return ()
    names = (file.name for file in folder.iterdir() if file.is_file())
    return tuple(f"/{name}" for name in sorted(names) if name != "index.html")


def _served(file: Path, cache: str) -> Response:
    media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return FileResponse(file, headers={**_SAFE, "Cache-Control": cache}, media_type=media_type)
