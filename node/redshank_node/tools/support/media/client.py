"""Asks a media model over the form of OpenAI's endpoints."""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from http import HTTPStatus

import aiohttp
import msgspec

from redshank_node.tools.support.files import textfiles
from redshank_node.tools.support.previews.kinds import IMAGE_TYPES, MEGABYTE
from redshank_node.tools.tool import MediaRoute
from redshank_shared.domain.errors import RedshankError
from redshank_shared.wire.version import VERSION

MOST_BYTES = 64 * MEGABYTE
_CONNECT_SECONDS = 10.0
_MOST_SAID = 500
# These answer in base64 alone, and refuse to be told so.
_BASE64_ALONE = "gpt-image"


class MediaFailed(Exception):
    """No media came back. The message says why; it goes to the model."""


class Media(msgspec.Struct, frozen=True):
    """What a model made, or is given."""

    media_type: str
    body: bytes


async def generate_images(
    route: MediaRoute, seconds: float, fields: Mapping[str, str | int]
) -> list[Media]:
    """The images that these fields ask for (`prompt`, `n`, `size`, `quality`); MediaFailed."""
    asked = {"model": route.model, **fields}
    if not route.model.startswith(_BASE64_ALONE):
        asked["response_format"] = "b64_json"
    body = msgspec.json.encode(asked)
    return _images(await _answer(route, "/images/generations", seconds, body))


async def edit_images(
    route: MediaRoute,
    seconds: float,
    fields: Mapping[str, str | int],
    images: Sequence[Media],
    mask: Media | None,
) -> list[Media]:
    """The images that come of these by the instruction in `prompt`; MediaFailed."""
    name = "image" if len(images) == 1 else "image[]"
    files = [(name, image) for image in images] + ([("mask", mask)] if mask else [])
    texts = {"model": route.model, **{key: str(value) for key, value in fields.items()}}
    if not route.model.startswith(_BASE64_ALONE):
        texts["response_format"] = "b64_json"
    boundary, body = _form(texts, files)
    kind = f"multipart/form-data; boundary={boundary}"
    return _images(await _answer(route, "/images/edits", seconds, body, kind))


async def speak(
    route: MediaRoute, seconds: float, fields: Mapping[str, str | float], media_type: str
) -> Media:
    """The speech that these fields ask for (`input`, `voice`, `response_format`); MediaFailed."""
    body = msgspec.json.encode({"model": route.model, **fields})
    sound = await _answer(route, "/audio/speech", seconds, body)
    if not sound or sound.lstrip()[:1] in (b"{", b"<"):
        raise MediaFailed(f"{route.name} answers without sound")
    return Media(media_type, sound)


async def _answer(
    route: MediaRoute, path: str, seconds: float, body: bytes, kind: str = "application/json"
) -> bytes:
    """The body of its 200; what it says of itself otherwise."""
    try:
        key = await route.find_key()
    except RedshankError as error:
        raise MediaFailed(f"{route.name} has no key: {error.detail}") from error
    headers = {"Content-Type": kind, "User-Agent": f"redshank/{VERSION}"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    timeout = aiohttp.ClientTimeout(total=seconds, sock_connect=_CONNECT_SECONDS)
    url = route.base_url.rstrip("/") + path
    try:
        async with (
            aiohttp.ClientSession(
                timeout=timeout, cookie_jar=aiohttp.DummyCookieJar(), trust_env=True
            ) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            answer = await _read(response)
            if response.status != HTTPStatus.OK:
                said = _said(answer)
                raise MediaFailed(f"{route.name} answers {response.status}{said}")
            return answer
    except TimeoutError as error:
        raise MediaFailed(f"{route.name} gave no answer within {seconds:g} s") from error
    except (aiohttp.ClientError, OSError) as error:
        raise MediaFailed(f"{route.name} is not reached ({type(error).__name__})") from error


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    while piece := await response.content.readany():
        body += piece
        if len(body) > MOST_BYTES:
            raise MediaFailed(f"its answer has more than {MOST_BYTES} bytes; ask for less")
    return bytes(body)


class _Error(msgspec.Struct, frozen=True):
    message: str = ""


class _Refusal(msgspec.Struct, frozen=True):
    error: _Error


def _said(answer: bytes) -> str:
    try:
        message = msgspec.json.decode(answer, type=_Refusal).error.message
    except msgspec.DecodeError:
        return ""
    return f": {' '.join(message.split())[:_MOST_SAID]}" if message else ""


class _Image(msgspec.Struct, frozen=True):
    b64_json: str = ""


class _Images(msgspec.Struct, frozen=True):
    data: list[_Image]


def _images(answer: bytes) -> list[Media]:
    try:
        found = msgspec.json.decode(answer, type=_Images).data
        bodies = [base64.b64decode(image.b64_json, validate=True) for image in found]
    except (msgspec.DecodeError, binascii.Error) as error:
        raise MediaFailed("its answer is no list of images in base64") from error
    made = [Media(IMAGE_TYPES.get(textfiles.image_kind(body) or "", ""), body) for body in bodies]
    if not made or not all(image.media_type for image in made):
        raise MediaFailed("its answer holds no image that browsers show")
    return made


def _form(texts: Mapping[str, str], files: Sequence[tuple[str, Media]]) -> tuple[str, bytes]:
    """(boundary, body). The boundary is made of what it must not stand in."""
    whole = hashlib.sha256(repr(sorted(texts.items())).encode(errors="replace"))
    for _, file in files:
        whole.update(file.body)
    boundary = f"redshank-{whole.hexdigest()[:40]}"
    parts: list[bytes] = []
    for name, text in texts.items():
        parts.append(_part(boundary, f'name="{name}"', "", text.encode(errors="replace")))
    for index, (name, file) in enumerate(files):
        ending = file.media_type.partition("/")[2].partition("+")[0]
        said = f'name="{name}"; filename="{index}.{ending}"'
        parts.append(_part(boundary, said, f"Content-Type: {file.media_type}\r\n", file.body))
    return boundary, b"".join([*parts, f"--{boundary}--\r\n".encode()])


def _part(boundary: str, said: str, header: str, body: bytes) -> bytes:
    head = f"--{boundary}\r\nContent-Disposition: form-data; {said}\r\n{header}\r\n"
    return head.encode() + body + b"\r\n"
