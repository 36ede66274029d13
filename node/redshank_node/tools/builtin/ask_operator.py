"""Asks whoever operates the cluster one to four questions, then waits for the answers."""

from typing import Any

from redshank_node.tools.support import inquiries
from redshank_node.tools.tool import Prepared, Tool, Workspace


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked questions to an operator (K-19)."""
    return inquiries.prepare(arguments, "operator")


TOOL = Tool(
    name="ask_operator",
    description=(
        "Ask whoever operates this cluster: access, resources, rules of the house. 1 to 4 "
        "questions with 2 to 4 options each; their answers are the result. Where nobody answers in "
        "time, you go on without."
    ),
    parameters=inquiries.PARAMETERS,
    effect="human",
    prepare=prepare,
    run=inquiries.run,
    primary_key="questions",
    plan=True,
    top_level=True,
)
