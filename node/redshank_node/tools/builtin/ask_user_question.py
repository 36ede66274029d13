"""Asks the user one to four questions, then waits for the answers."""

from typing import Any

from redshank_node.tools.support import inquiries
from redshank_node.tools.tool import Prepared, Tool, Workspace


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked questions to the user (K-18)."""
    return inquiries.prepare(arguments, "user")


TOOL = Tool(
    name="ask_user_question",
    description=(
        "Ask the user what only they can decide: 1 to 4 questions with 2 to 4 options each. "
        "Your turn stops until they answer, however long that takes; their answers are the result. "
        "One that expires ends your turn."
    ),
    parameters=inquiries.PARAMETERS,
    effect="human",
    prepare=prepare,
    run=inquiries.run,
    primary_key="questions",
    plan=True,
    top_level=True,
)
