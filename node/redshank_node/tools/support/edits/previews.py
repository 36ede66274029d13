"""Keeps dry runs of edits until they are applied (C36)."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import msgspec

from redshank_node.tools.tool import BadArguments

_MOST_KEPT = 100


class DryRun(msgspec.Struct, frozen=True):
    """An edit that was shown. `path` is the file's key; `sha256` is of the whole file as it was
    then; `arguments` are those of the dry run.
    """

    workstream_id: str
    path: str
    sha256: str
    arguments: Mapping[str, Any]


class DryRuns:
    """The last hundred dry runs of this process; gone when it ends."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, DryRun] = OrderedDict()

    def keep(self, call_id: str, dry_run: DryRun) -> str:
        """The id under which it can be applied once."""
        seed = f"{dry_run.workstream_id}\n{call_id}\n{dry_run.path}\n{dry_run.sha256}"
        apply_id = f"edit-{hashlib.sha256(seed.encode()).hexdigest()[:12]}"
        self._kept[apply_id] = dry_run
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return apply_id

    def find(self, apply_id: str, workstream_id: str, path: str) -> DryRun:
        """The dry run of this id; BadArguments where this workstream has none for this path."""
        found = self._kept.get(apply_id)
        if found is None or (found.workstream_id, found.path) != (workstream_id, path):
            raise BadArguments(
                f"apply: there is no dry run {apply_id} of this file here; each can be applied "
                "once, and none outlives its node: make the dry run again"
            )
        return found

    def drop(self, apply_id: str) -> None:
        """It was applied."""
        self._kept.pop(apply_id, None)
