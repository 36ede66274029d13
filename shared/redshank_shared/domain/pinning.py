"""What is pinned: command -> facts, or a refusal with the mend."""

from redshank_shared.domain.commands import PinFile, UnpinFile
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.events import AnyFact
from redshank_shared.domain.pin_events import FilePinned, FileUnpinned
from redshank_shared.domain.workstream import Workstream

MOST_PINS = 32


def decide(state: Workstream, command: PinFile | UnpinFile) -> list[AnyFact]:
    """Pin a file, change its pin, or take it off; taking off what is not pinned changes nothing
    (C24). Conflict where too many files are pinned.
    """
    pinned = state.pins.files
    if isinstance(command, UnpinFile):
        return [FileUnpinned(command.path, command.gone)] if command.path in pinned else []
    if command.path not in pinned and len(pinned) >= MOST_PINS:
        raise Conflict(
            f"{MOST_PINS} files are open, which is all that may be; close one of them first: "
            f"{', '.join(pinned)}",
            code="too_many_pins",
            field="path",
        )
    return [FilePinned(command.path, command.sections, command.whole)]
