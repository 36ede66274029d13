"""What a workstream remembers of files."""

import os
import pathlib

import pytest

from redshank_node.tools.support.files.file_digests import digest_of, seen_file, still_is
from redshank_shared.domain.seen_files import SeenFile, remembered


@pytest.mark.fault("F33")
def test_the_digest_seen_last_counts() -> None:
    known = remembered({"a": "1", "b": "1"}, (SeenFile("a", "2"), SeenFile("c", "1")))
    assert known == {"b": "1", "a": "2", "c": "1"}


def test_of_very_many_files_the_ones_seen_last_are_known() -> None:
    known = remembered({}, tuple(SeenFile(f"f{number}", "1") for number in range(1001)))
    assert len(known) == 1000
    assert "f0" not in known
    assert "f1000" in known


@pytest.mark.fault("F33")
@pytest.mark.parametrize("size", [0, 10, (1 << 20) + 1])
def test_a_file_is_told_from_one_with_other_bytes(size: int, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * size)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        seen = seen_file("a", descriptor)
        assert os.lseek(descriptor, 0, os.SEEK_CUR) == 0
    finally:
        os.close(descriptor)
    assert still_is(seen.digest, digest_of(path.read_bytes()), path.stat())
    path.write_bytes(b"x" * size + b"y")
    assert not still_is(seen.digest, digest_of(path.read_bytes()), path.stat())
