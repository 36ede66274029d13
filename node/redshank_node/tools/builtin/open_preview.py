"""Shows a person a page, a file or a kept asset beside the conversation."""

import asyncio
import functools
from typing import Any

import msgspec

from redshank_node.tools.support import schema
from redshank_node.tools.support.files import paths
from redshank_node.tools.support.files.kept_bytes import asked_digest, is_asset, kept
from redshank_node.tools.support.files.workspace_bytes import about, bytes_of
from redshank_node.tools.support.previews import pages
from redshank_node.tools.support.previews.kinds import (
    MOST_BYTES,
    MOST_OF_ANY,
    Shown,
    Source,
    Unshowable,
    shown,
)
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.support.web import network as web_network
from redshank_node.tools.support.web.addresses import Refused, is_local_name, reach_of, target_of
from redshank_node.tools.support.web.client import Unreached, fetch
from redshank_node.tools.support.web.network import Network
from redshank_node.tools.support.web.pages import media_type
from redshank_node.tools.tool import (
    Artifacts,
    BadArguments,
    CallContext,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.artifact_events import PreviewKind
from redshank_shared.domain.commands import OpenPreview
from redshank_shared.domain.events import Preview

URL = "url"
_MOST_TITLE_CHARACTERS = 200
_FAILED = 400
_SECONDS = 60.0
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "target": {
            "type": "string",
            "minLength": 1,
            "maxLength": 8192,
            "description": (
                "What to show: an http(s) URL, a file of the workspace, or attachment:<id> for "
                "what is kept under an asset id."
            ),
        },
        "kind": {
            "type": "string",
            "enum": list(MOST_BYTES),
            "description": "What to show it as. Left out, its content says.",
        },
        "title": {
            "type": "string",
            "maxLength": _MOST_TITLE_CHARACTERS,
            "description": "What stands above it. Left out, its own title or name.",
        },
    },
    "required": ["target"],
    "additionalProperties": False,
}


class _Found(msgspec.Struct, frozen=True):
    """What a target led to. `place`: its name or final address, for people."""

    source: Source
    place: str
    url: str = ""


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """A target that may be shown. A URL asks a person (`open_preview:url`), what is here does not;
    one that leads into a private network is refused (T-33, F63).
    """
    checked = schema.validated(arguments, _PARAMETERS)
    target = checked["target"] = checked["target"].strip()
    if _is_url(target):
        checked["target"] = _public_url(target)
        return Prepared(checked, Preview(f"show {checked['target'][:300]}"), URL)
    if is_asset(target):
        asked_digest(target, "target")
        return Prepared(checked, Preview(f"show {target}"))
    try:
        paths.check_beneath(workspace.ground, target)
    except paths.PathRefused as wrong:
        raise BadArguments(about("target", wrong)) from wrong
    return Prepared(checked, Preview(f"show {target}"))


async def run(network: Network, prepared: Prepared, context: CallContext) -> Result:
    """One line for the model; the bytes are kept and shown to the person (T-33)."""
    arguments = prepared.arguments
    target: str = arguments["target"]
    kind: PreviewKind | None = arguments.get("kind")
    if context.artifacts is None:
        return refused("nobody looks at previews here; say it in words")
    try:
        found = await _found(target, kind, network, context, context.artifacts)
        made = await asyncio.to_thread(shown, found.source, kind)
    except BadArguments as wrong:
        return refused(str(wrong))
    except (Unshowable, Refused, Unreached) as wrong:
        return refused(f"target: {target[:300]} is not shown: {wrong}")
    made = _placed(made, found)
    title = " ".join(arguments.get("title", "").split()) or _title(made, found)
    asset = await context.artifacts.keep(made.body, made.media_type)
    size = len(asset.body)
    command = OpenPreview(
        context.call_id, made.kind, title, asset.digest, target, made.media_type, size
    )
    return Result(
        f"The user is shown {made.kind} {title!r} ({size} bytes, {asset.digest}).", command=command
    )


def _is_url(target: str) -> bool:
    return target.lower().startswith(("http://", "https://"))


def _public_url(url: str) -> str:
    try:
        target = target_of(url)
    except Refused as wrong:
        raise BadArguments(f"target is refused: {wrong}") from wrong
    inside = target.is_address and reach_of(target.host) != "public"
    if inside or is_local_name(target.host):
        raise BadArguments(
            f"target is refused: {target.host} lies in a private network; "
            "download it with a command and show the file"
        )
    return target.url


async def _found(
    target: str,
    kind: PreviewKind | None,
    network: Network,
    context: CallContext,
    artifacts: Artifacts,
) -> _Found:
    most = MOST_BYTES[kind] if kind else MOST_OF_ANY
    if _is_url(target):
        return await _fetched(target, network, most)
    if is_asset(target):
        asset = await kept(artifacts, target, "target")
        source = Source(asset.body, content_type=asset.media_type)
        return _Found(source, asset.digest.removeprefix("sha256:")[:12])
    try:
        file = await asyncio.to_thread(bytes_of, context.workspace.ground, target, most + 1)
    except paths.PathRefused as wrong:
        raise BadArguments(about("target", wrong)) from wrong
    name = target.rstrip("/").rpartition("/")[2]
    return _Found(Source(file.body, name, is_whole=file.size <= len(file.body)), name)


async def _fetched(url: str, network: Network, most: int) -> _Found:
    fetched = await fetch(target_of(url), network, (), most, _SECONDS)
    if fetched.status >= _FAILED:
        raise Unreached(f"{fetched.url} answered {fetched.status}")
    name = target_of(fetched.url).path.partition("?")[0].rpartition("/")[2]
    # A server's page is named after what makes it (index.php): its own word counts for more.
    says = media_type(fetched.content_type)[0] not in ("", "text/plain", "application/octet-stream")
    source = Source(fetched.body, "" if says else name, fetched.content_type, not fetched.cut)
    return _Found(source, name or fetched.url, fetched.url)


def _placed(made: Shown, found: _Found) -> Shown:
    if made.kind != "web" or not found.url:
        return made
    body = pages.based(made.body.decode(), found.url).encode()
    return msgspec.structs.replace(made, body=body)


def _title(made: Shown, found: _Found) -> str:
    said = pages.title_of(made.body.decode()) if made.kind == "web" else ""
    return (said or found.place)[:_MOST_TITLE_CHARACTERS]


def tool(network: Network) -> Tool:
    """The tool, over this network."""
    return Tool(
        name="open_preview",
        description=(
            "Show the user something beside the conversation: a web page, PDF, image, table "
            "(CSV, TSV, JSON), text or Markdown. You get one line back, not the content."
        ),
        parameters=_PARAMETERS,
        effect="network",
        prepare=prepare,
        run=functools.partial(run, network),
        primary_key="target",
        timeout_seconds=90.0,
        asks=(URL,),
        top_level=True,
        task_agent=False,
    )


TOOL = tool(web_network.SYSTEM)
