"""Routes of kept bytes."""

from fastapi import APIRouter, Request, Response

from redshank_console.api.documented import answers_of_type
from redshank_console.services.assets import AssetReading
from redshank_shared.stores.assets import Asset

_ENDINGS = {"text/plain": "txt", "application/json": "json", "image/png": "png"}


class AssetRoutes:
    """Whatever an asset holds is downloaded, never shown: it may come from anywhere."""

    def __init__(self, reading: AssetReading) -> None:
        self._reading = reading

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/assets")
        kept = answers_of_type("application/octet-stream", "The bytes, with their own media type")
        router.add_api_route("/{digest}", self.show, methods=["GET"], responses=kept)
        return router

    async def show(self, request: Request, digest: str) -> Response:
        """The bytes kept under a digest."""
        asset = await self._reading.asset(digest)
        headers = {
            "ETag": f'"{asset.digest}"',
            "Cache-Control": "private, max-age=31536000, immutable",
            "Content-Disposition": f'attachment; filename="{_name(asset)}"',
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff",
        }
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(asset.body, headers={**headers, "Content-Type": asset.media_type})


def _name(asset: Asset) -> str:
    kind = asset.media_type.partition(";")[0].strip()
    return f"{asset.digest.removeprefix('sha256:')[:16]}.{_ENDINGS.get(kind, 'bin')}"
