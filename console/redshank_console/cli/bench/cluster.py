"""Shows what a large cluster costs a console: `redshank bench cluster`."""

from pathlib import Path
from typing import Annotated

import typer

from redshank_console.cli.bench.calls import Measured, measure, simulated
from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.load import load
from redshank_shared.settings.secret import without_password


def cluster(
    session: Session,
    nodes: Annotated[int, typer.Option(min=1, max=4000, help="how many to simulate")] = 1000,
    workstreams: Annotated[int, typer.Option(min=0, max=500, help="in hand on each")] = 50,
    redis: Annotated[str, typer.Option(help="the cluster's Redis, else the configuration's")] = "",
    config: Annotated[Path | None, typer.Option("--config", help="redshank.toml")] = None,
) -> None:
    """Simulate nodes that report over Redis. Prints the console's memory, milliseconds a call.

    The simulated nodes are shown on the cluster's pages until it ends.
    """
    url = redis or load(config, process_environment()).redis.url
    shown = without_password(url)
    say(f"simulating {nodes} nodes with {workstreams} workstreams each over {shown}")
    with simulated(url, nodes, workstreams):
        found = measure(session.client, nodes)
    if session.wants_json:
        write_json(found)
    else:
        _show(found)


def _show(found: Measured) -> None:
    write_table(
        ("CALL", "P50 MS", "P99 MS", "KB"),
        [
            (each.path, f"{each.p50_ms:.1f}", f"{each.p99_ms:.1f}", f"{each.bytes / 1000:.0f}")
            for each in found.calls
        ],
    )
    memory = f"{found.memory_bytes / 1e6:.0f} MB" if found.memory_bytes else "not told"
    typer.echo(
        f"{found.nodes} nodes up after {found.seen_seconds:.1f} s, console's memory {memory}"
    )
