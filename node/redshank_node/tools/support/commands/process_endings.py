"""Says how a command ended, in words for a model."""

import signal

from redshank_node.tools.support.commands.processes import Ended
from redshank_node.tools.tool import Result


def result_of(ended: Ended, timeout_seconds: float) -> Result:
    """What the command wrote, behind it how it ended; flagged as T-18 says."""
    notes = notes_on(ended, timeout_seconds)
    text, truncated = ended.output.text(len("\n".join(notes).encode()) + 1)
    if not text and not notes:
        text = "[no output]"
    if text and notes and not text.endswith("\n"):
        text += "\n"
    failed = is_failure(ended)
    return Result(
        text + "\n".join(notes),
        is_error=failed,
        outcome="timeout" if ended.timed_out else "error" if failed else "ok",
        truncated=truncated,
    )


def is_failure(ended: Ended) -> bool:
    """Whether the end counts as an error: not for exit code 1 (T-18)."""
    return ended.timed_out or ended.code is None or ended.code < 0 or ended.code > 1


def notes_on(ended: Ended, timeout_seconds: float) -> list[str]:
    """A line for each thing about the end that is not as one would think."""
    notes = []
    if ended.leftover_count and not ended.timed_out:
        shown = "; ".join(ended.leftovers)
        more = ", ..." if ended.leftover_count > len(ended.leftovers) else ""
        notes.append(
            f"[{ended.leftover_count} process(es) still ran when the command ended "
            f"and were stopped: {shown}{more}]"
        )
    if ended.timed_out:
        notes.append(f"[stopped after {timeout_seconds:g} s, with all that it had started]")
    elif ended.code is None:
        notes.append("[the command's supervisor was killed; how the command ended is not known]")
    elif ended.code < 0:
        notes.append(f"[ended by signal {-ended.code} ({signal_name(-ended.code)})]")
    elif ended.code > 0:
        notes.append(f"[exit code {ended.code}]")
    return notes


def signal_name(number: int) -> str:
    """The name of a signal, as SIGKILL for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unnamed"
