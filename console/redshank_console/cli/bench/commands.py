"""The commands that measure: `redshank bench …`."""

import typer

from redshank_console.cli.bench.cluster import cluster
from redshank_console.cli.bench.tool_search import tool_search
from redshank_console.cli.bench.watches import watches
from redshank_console.cli.session import with_session

bench = typer.Typer(no_args_is_help=True, help="Measure a cluster, or a part of one.")
bench.command()(with_session(watches))
bench.command()(with_session(cluster))
bench.command("tool-search")(tool_search)
