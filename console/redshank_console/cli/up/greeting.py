"""Tells the person who started it what runs now, where to go."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from redshank_shared.settings.sections import Model


def greeting(
    url: str,
    link: str,
    data: Path,
    workspace: Path,
    models: Sequence[Model],
    nodes: int,
    commands: str = "",
) -> str:
    """The lines that a start ends with; `link` signs one browser in, empty where none is needed;
    `commands` says what confines those of agents.
    """
    rows = [
        ("console", url),
        ("sign in", link),
        ("nodes", f"{nodes}, working in {workspace}"),
        ("models", ", ".join(_model(model) for model in models)),
        ("commands", commands),
        ("data", str(data)),
        ("logs", str(data / "logs")),
    ]
    shown = "\n".join(f"  {name:<9}{value}" for name, value in rows if value)
    return f"\nRedshank is up.\n\n{shown}\n\nCtrl-C stops all.\n"


def commands_line(sandbox: Mapping[str, object]) -> str:
    """What a node's /health says of its sandbox, in words; empty where it says nothing."""
    match sandbox.get("backend"):
        case None:
            return ""
        case "none":
            return "not confined: sandbox.backend is none"
        case "missing":
            return (
                f"refused, nothing confines them here ({sandbox.get('reason')}): permit user "
                f"namespaces or Landlock (docs/sandbox.md), or set sandbox.backend to none"
            )
        case backend:
            return f"confined by {backend}"


def _model(model: Model) -> str:
    if model.provider == "demo":
        return f"{model.name} (no model is configured: does what your lines say)"
    return f"{model.name} ({model.model} at {model.base_url or model.provider})"
