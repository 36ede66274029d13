"""Routes of kept bytes."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from redshank_console.api.documented import answers_of_type
from redshank_console.services.assets import AssetReading
from redshank_shared.domain.errors import Invalid
from redshank_shared.stores.assets import Asset

_ENDINGS = {
    "text/plain": "txt",
    "application/json": "json",
    "application/pdf": "pdf",
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "text/csv": "csv",
}
_HTML = "text/html"
_PDF = "application/pdf"
# A browser shows these, each under a policy of its own that lets nothing out.
_SHOWN_TYPES = (
    _HTML,
    _PDF,
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/bmp",
    "image/x-icon",
    "image/svg+xml",
    "audio/mpeg",
    "audio/wav",
)
_OURS = "frame-ancestors 'self'"
_STILL = f"sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; {_OURS}"
_LIVE = (
    "sandbox allow-scripts; default-src http: https: data: blob: 'unsafe-inline' 'unsafe-eval'; "
    f"object-src 'none'; form-action 'none'; {_OURS}"
)
# The browser's own viewer does not start in a sandbox; it runs no script of ours.
_VIEWER = f"default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; {_OURS}"


class AssetRoutes:
    """An asset may come from anywhere: it is downloaded, or shown where it can do nothing."""

    def __init__(self, reading: AssetReading) -> None:
        self._reading = reading

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/assets")
        kept = answers_of_type("application/octet-stream", "The bytes, with their own media type")
        router.add_api_route("/{digest}", self.show, methods=["GET"], responses=kept)
        return router

    async def show(
        self,
        request: Request,
        digest: str,
        show_as: Annotated[str, Query(alias="as")] = "",
        live: Annotated[bool, Query()] = False,
    ) -> Response:
        """The bytes kept under a digest that some workstream refers to, to be downloaded.

        With `as` a browser shows them as this type: pages without scripts or remote loads, unless
        `live` lets them have both, in a sandbox without an origin.
        """
        if show_as and show_as not in _SHOWN_TYPES:
            raise Invalid(
                f"as must be one of {', '.join(_SHOWN_TYPES)}; leave it out to download",
                field="as",
            )
        asset = await self._reading.asset(digest)
        headers = {
            "ETag": f'"{asset.digest}"',
            "Cache-Control": "private, max-age=31536000, immutable",
            "Content-Disposition": f'attachment; filename="{_name(asset)}"',
            "Content-Security-Policy": _policy(show_as, live=live),
            "X-Content-Type-Options": "nosniff",
            "X-DNS-Prefetch-Control": "off",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        if show_as:
            headers["Content-Disposition"] = f'inline; filename="{_name(asset)}"'
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(asset.body, headers={**headers, "Content-Type": _type(asset, show_as)})


def _policy(show_as: str, *, live: bool) -> str:
    if show_as == _PDF:
        return _VIEWER
    return _LIVE if live and show_as == _HTML else _STILL


def _type(asset: Asset, show_as: str) -> str:
    if show_as == _HTML:
        return f"{_HTML}; charset=utf-8"
    return show_as or asset.media_type


def _name(asset: Asset) -> str:
    kind = asset.media_type.partition(";")[0].strip()
    return f"{asset.digest.removeprefix('sha256:')[:16]}.{_ENDINGS.get(kind, 'bin')}"
