"""store_asset, as an agent uses it: a file of the workspace becomes an asset."""

import hashlib
import os
import pathlib

import pytest

from redshank_node.tools.builtin import store_asset
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.artifact_events import AssetsStored, StoredAsset
from tests.contract.artifact_world import ArtifactWorld, said

pytest_plugins = ("tests.contract.artifact_fixtures",)
pytestmark = pytest.mark.req("K-15")


async def test_a_file_becomes_an_asset_under_the_digest_of_its_bytes(world: ArtifactWorld) -> None:
    body = bytes(range(256)) * 100
    world.write("report.pdf", body)

    stored = said(await world.call(store_asset.TOOL, path="report.pdf"))

    digest = "sha256:" + hashlib.sha256(body).hexdigest()
    assert stored == {
        "asset_id": digest,
        "media_type": "application/pdf",
        "size": len(body),
        "name": "report.pdf",
    }
    asset = StoredAsset(digest, "application/pdf", len(body), "report.pdf")
    assert world.last_fact() == AssetsStored("call_7", "store_asset", (asset,))
    assert world.kept(digest).body == body


async def test_the_asset_stays_when_the_file_changes(world: ArtifactWorld) -> None:
    world.write("a.txt", "first")
    first = said(await world.call(store_asset.TOOL, path="a.txt"))["asset_id"]
    world.write("a.txt", "second")
    second = said(await world.call(store_asset.TOOL, path="a.txt"))["asset_id"]

    assert (world.kept(first).body, world.kept(second).body) == (b"first", b"second")


@pytest.mark.fault("F17")
@pytest.mark.parametrize("path", ["../out.txt", "/etc/passwd", "out", "/proc/self/root/etc/hosts"])
async def test_a_path_outside_the_workspace_is_refused(
    world: ArtifactWorld, tmp_path: pathlib.Path, path: str
) -> None:
    (tmp_path / "out.txt").write_text("not yours")
    (world.folder / "out").symlink_to(tmp_path / "out.txt")

    with pytest.raises(BadArguments, match="leads out of the workspace"):
        await world.call(store_asset.TOOL, path=path)


@pytest.mark.fault("F21")
async def test_what_is_no_file_is_refused_before_it_is_read(world: ArtifactWorld) -> None:
    (world.folder / "folder").mkdir()
    os.mkfifo(world.folder / "pipe")
    with (world.folder / "huge").open("wb") as huge:
        huge.truncate(5 << 30)

    for path, why in (
        ("folder", "is a folder"),
        ("pipe", "a named pipe"),
        ("none", "does not exist"),
        ("huge", f"has {5 << 30} bytes, at most 33554432"),
    ):
        result = await world.call(store_asset.TOOL, path=path)
        assert result.is_error
        assert result.command is None
        assert why in result.output


async def test_a_media_type_that_is_none_is_refused(world: ArtifactWorld) -> None:
    world.write("a", "text")

    with pytest.raises(BadArguments, match="media_type must be"):
        await world.call(store_asset.TOOL, path="a", media_type="text/html\r\nX: y")
    kept = said(await world.call(store_asset.TOOL, path="a", media_type="text/x-log"))
    assert world.kept(kept["asset_id"]).media_type == "text/x-log"


@pytest.mark.req("K-15")
@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.tar.gz", "application/gzip"), ("a.tar", "application/x-tar"), ("a", None)],
)
async def test_a_name_says_what_the_bytes_are_not_what_is_packed_in_them(
    name: str, media_type: str | None, world: ArtifactWorld
) -> None:
    world.write(name, b"\x1f\x8b")
    kept = said(await world.call(store_asset.TOOL, path=name))
    assert kept["media_type"] == (media_type or "application/octet-stream")
