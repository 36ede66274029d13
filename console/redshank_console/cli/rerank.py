"""The commands on a reranker: `redshank rerank …`."""

import re
import tomllib
from collections.abc import Callable
from typing import Annotated

import httpx
import typer

from redshank_console.cli import exits
from redshank_console.cli.calibration import PROBES, Calibration, calibrated, passages
from redshank_console.cli.output import OutputForm, say, write_facts, write_json
from redshank_console.cli.processes import Config
from redshank_shared.domain.errors import Misconfigured, Unavailable
from redshank_shared.settings.environment import config_path, process_environment
from redshank_shared.settings.load import load
from redshank_shared.settings.sections import Settings
from redshank_shared.wire.rerank import headers, question, ranking

SECONDS = 30.0

rerank = typer.Typer(no_args_is_help=True, help="The endpoint that orders search results.")


def calibrate(
    config: Config = None,
    write: Annotated[
        bool, typer.Option("--write", help="write the threshold into the configuration file")
    ] = False,
    output: Annotated[OutputForm, typer.Option("--output", "-o", help="table or json")] = "table",
) -> None:
    """Ask the reranker about pairs that are known. Says where the line between them is, exits 1
    where it does not tell them apart.
    """
    environ = process_environment()
    settings = load(config, environ)
    found = probed(settings)
    if output == "json":
        write_json(found)
    else:
        write_facts(_facts(settings, found))
    if write and found.threshold is not None:
        path = config_path(config, environ)
        if path is None:
            raise Misconfigured(
                "there is no configuration file to write to: name one with --config, or set "
                f"REDSHANK_RERANK__THRESHOLD={found.threshold}"
            )
        path.write_text(with_threshold(path.read_text("utf-8"), found.threshold), "utf-8")
        say(f"rerank.threshold = {found.threshold} stands in {path}; restart the nodes")
    if not found.separates:
        raise typer.Exit(exits.FAILED)


def probed(settings: Settings) -> Calibration:
    """What the endpoint of these settings says of the probes. Misconfigured where none is set,
    Unavailable where it gives no scores.
    """
    rerank = settings.rerank
    if not rerank.url:
        raise Misconfigured("no reranker is set: set rerank.url first", field="rerank.url")
    with httpx.Client(timeout=SECONDS, trust_env=False) as client:
        scores = []
        for place, (query, _, _) in enumerate(PROBES):
            texts = passages(place)
            body = question(rerank.model, rerank.instruction, query, texts)
            answer = _asked(client, rerank.url, body, headers(settings.rerank_key.reveal()))
            by_place = {each.index: each.relevance_score for each in ranking(answer, len(texts))}
            if len(by_place) < len(texts):
                raise Unavailable(
                    "the reranker leaves documents out; it must score all that it is given"
                )
            scores.append([by_place[index] for index in range(len(texts))])
    return calibrated(scores)


def with_threshold(text: str, threshold: float) -> str:
    """The TOML text with this `rerank.threshold`; all else in it stays byte for byte. Misconfigured
    where it is written in a form that only a person can change.
    """
    written = _written(text, f"threshold = {threshold}")
    try:
        if tomllib.loads(written)["rerank"]["threshold"] == threshold:
            return written
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        pass  # said below, for whatever came out wrong
    raise Misconfigured(
        f"the file has no table [rerank] that can be added to: set rerank.threshold = {threshold} "
        "there yourself",
        field="rerank.threshold",
    )


def _written(text: str, line: str) -> str:
    table = re.search(r"^[ \t]*\[[ \t]*rerank[ \t]*\][^\n]*\n?", text, re.M)
    if table is None:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[rerank]\n{line}\n"
    head, rest = text[: table.end()], text[table.end() :]
    following = re.search(r"^[ \t]*\[", rest, re.M)
    inside, behind = rest, ""
    if following:
        inside, behind = rest[: following.start()], rest[following.start() :]
    given = re.compile(r"^[ \t]*threshold[ \t]*=[^\n#]*", re.M)
    if given.search(inside):
        return head + given.sub(_keeping_blanks(line), inside, count=1) + behind
    gap = "" if head.endswith("\n") else "\n"
    return f"{head}{gap}{line}\n{rest}"


def _keeping_blanks(line: str) -> Callable[[re.Match[str]], str]:
    def written(found: re.Match[str]) -> str:
        old = found.group()
        return line + old[len(old.rstrip()) :]

    return written


def _asked(client: httpx.Client, url: str, body: bytes, headers: dict[str, str]) -> bytes:
    try:
        answer = client.post(url, content=body, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unavailable(
            f"the reranker at {url} is not reached ({type(error).__name__}): see that it runs, "
            "that rerank.url leads to it"
        ) from error
    if answer.status_code in (401, 403):
        raise Misconfigured(
            f"the reranker refuses the key ({answer.status_code}): set rerank.api_key_slot, and on "
            "this machine the slot's variable; the vault's value is not read by this command",
            field="rerank.api_key_slot",
        )
    if answer.status_code != httpx.codes.OK:
        raise Unavailable(f"the reranker at {url} answers {answer.status_code}")
    return answer.content


def _facts(settings: Settings, found: Calibration) -> list[tuple[str, str]]:
    suggested = "" if found.threshold is None else str(found.threshold)
    return [
        ("endpoint", settings.rerank.url),
        ("relevant passages", f"score {found.relevant_lowest:.3f} or more"),
        ("irrelevant passages", f"score {found.irrelevant_highest:.3f} or less"),
        ("separation", found.says),
        ("threshold", suggested),
        ("set now", str(settings.rerank.threshold)),
    ]


rerank.command()(calibrate)
