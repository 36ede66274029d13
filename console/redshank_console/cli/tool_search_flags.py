"""The flags that say when tools wait to be found; each stands over the file (T-60)."""

from typing import Annotated

import typer

SearchFlag = Annotated[
    str, typer.Option("--tool-search", help="auto, on, off: whether MCP tools wait to be found")
]
ThresholdFlag = Annotated[
    int | None, typer.Option("--tool-search-threshold", help="above so many tools, with auto")
]
MostFlag = Annotated[
    int | None, typer.Option("--tool-search-max-results", help="how many tools a search brings")
]


def search_variables(search: str, threshold: int | None, most: int | None) -> dict[str, str]:
    """The variables that say the same, without those that are not given. What they may be, is said
    where settings are read.
    """
    given = {
        "REDSHANK_TOOLS__SEARCH": search,
        "REDSHANK_TOOLS__SEARCH_THRESHOLD": "" if threshold is None else str(threshold),
        "REDSHANK_TOOLS__SEARCH_MAX_RESULTS": "" if most is None else str(most),
    }
    return {variable: value for variable, value in given.items() if value}
