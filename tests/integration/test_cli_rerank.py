"""`redshank rerank calibrate` against a real endpoint: what it says, what it writes."""

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from redshank_console.cli.calibration import PROBES, calibrated, passages
from redshank_console.cli.rerank import with_threshold
from redshank_shared.domain.errors import Misconfigured
from tests.architecture.sources import ROOT
from tests.fakes.search_server import SearchServer

PACKAGES = ":".join(str(ROOT / name) for name in ("shared", "node", "console", "gateway"))
COMMAND = [sys.executable, "-c", "from redshank_console.cli.main import app; app()"]


async def calibrate(
    folder: Path, config: str, *options: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    file = folder / "redshank.toml"
    file.write_text(config)
    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "PYTHONPATH": PACKAGES,
        "REDSHANK_CONFIG": str(file),
        **environ,
    }
    command = [*COMMAND, "rerank", "calibrate", *options]
    return await asyncio.to_thread(
        subprocess.run,
        command,
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )


def knowing(query: str, document: str) -> float:
    """The score of a reranker that understands."""
    return 0.9 if (query, document) in {(asked, relevant) for asked, relevant, _ in PROBES} else 0.2


@pytest.mark.req("T-32")
async def test_a_good_endpoint_separates_and_the_threshold_is_written(tmp_path: Path) -> None:
    async with SearchServer().serving() as server:
        server.score = knowing
        config = f'[rerank] # ours\nurl = "{server.url}/rerank"\napi_key_slot = "rerank.main"\n'
        done = await calibrate(tmp_path, config, "--write", REDSHANK_SLOT__RERANK_MAIN="k-9")

    assert done.returncode == 0, done.stderr
    assert "the scores separate" in done.stdout
    written = (tmp_path / "redshank.toml").read_text()
    threshold = tomllib.loads(written)["rerank"]["threshold"]
    assert threshold == 0.55
    assert written.startswith("[rerank] # ours\n")
    assert f"rerank.threshold = {threshold} stands in" in done.stderr
    assert set(server.keys) == {"Bearer k-9"}
    assert "k-9" not in done.stdout + done.stderr
    assert len(server.ranked) == len(PROBES)


@pytest.mark.req("T-32")
async def test_an_endpoint_that_scores_all_alike_is_found_out(tmp_path: Path) -> None:
    async with SearchServer().serving() as server:
        server.raw = json.dumps(
            {"results": [{"index": place, "relevance_score": 0.5} for place in range(3)]}
        ).encode()
        config = f'[rerank]\nurl = "{server.url}/rerank"\n'
        done = await calibrate(tmp_path, config, "--write")

    assert done.returncode == 1
    assert "no clean separation" in done.stdout
    assert (tmp_path / "redshank.toml").read_text() == config


@pytest.mark.req("T-32")
@pytest.mark.parametrize(
    ("status", "code", "says"), [(401, 2, "set rerank.api_key_slot"), (500, 1, "answers 500")]
)
async def test_an_endpoint_that_refuses_is_told_with_the_mend(
    status: int, code: int, says: str, tmp_path: Path
) -> None:
    async with SearchServer().serving() as server:
        server.status = status
        done = await calibrate(tmp_path, f'[rerank]\nurl = "{server.url}/rerank"\n')

    assert done.returncode == code
    assert says in done.stderr


async def test_without_a_reranker_the_setting_is_named(tmp_path: Path) -> None:
    done = await calibrate(tmp_path, "")

    assert done.returncode != 0
    assert "set rerank.url" in done.stderr


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", "[rerank]\nthreshold = 0.5\n"),
        ("[log]\nlevel = 'info'", "[log]\nlevel = 'info'\n\n[rerank]\nthreshold = 0.5\n"),
        ("[rerank]\nurl = 'x'\n", "[rerank]\nthreshold = 0.5\nurl = 'x'\n"),
        ("[rerank]", "[rerank]\nthreshold = 0.5\n"),
        (
            "[rerank]\nthreshold = 0.25  # by hand\n[log]\nlevel = 'info'\n",
            "[rerank]\nthreshold = 0.5  # by hand\n[log]\nlevel = 'info'\n",
        ),
        (
            "[a]\nthreshold = 1\n[rerank]\nurl = 'x'\n[b]\nthreshold = 2\n",
            "[a]\nthreshold = 1\n[rerank]\nthreshold = 0.5\nurl = 'x'\n[b]\nthreshold = 2\n",
        ),
    ],
)
def test_the_threshold_is_written_and_nothing_else_changes(text: str, written: str) -> None:
    assert with_threshold(text, 0.5) == written


@pytest.mark.parametrize("text", ["rerank = { url = 'x' }\n", "rerank.url = 'x'\n"])
def test_a_form_that_cannot_be_added_to_is_left_to_the_person(text: str) -> None:
    with pytest.raises(Misconfigured, match="yourself"):
        with_threshold(text, 0.5)


def test_scores_that_are_no_shares_give_no_threshold() -> None:
    scores = [[-4.0, 6.0, -5.0] for _ in PROBES]

    found = calibrated(scores)

    assert found.separates
    assert found.threshold is None
    assert "leave rerank.threshold at 0" in found.says


def test_the_threshold_lies_between_relevant_and_irrelevant() -> None:
    found = calibrated([[0.1, 0.9, 0.2], [0.0, 0.7, 0.3], [0.1, 0.95, 0.1], [0.2, 0.8, 0.1]])

    assert (found.relevant_lowest, found.irrelevant_highest, found.threshold) == (0.7, 0.3, 0.5)


def test_every_probe_sends_its_relevant_passage_second() -> None:
    for place, (_, relevant, others) in enumerate(PROBES):
        assert passages(place)[1] == relevant
        assert set(passages(place)) == {relevant, *others}
