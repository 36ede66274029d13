"""Says which commands destroy what is on a disk."""

from collections.abc import Callable, Iterator

from redshank_node.tools.support.danger.called import Called, Finding, onto_disk, split
from redshank_node.tools.support.danger.targets import is_disk

_DESTROYS = "destroys what is on a disk"
# What each of these must be told to change a disk; without it they look.
_TOLD = {
    "badblocks": ("w",),
    "hdparm": ("--security-", "--trim-", "--make-bad-", "--write-sector", "--repair-sector"),
    "nvme": ("format", "sanitize", "write-zeroes", "delete-ns", "dsm"),
    "sgdisk": ("-Z", "-z", "-o", "-d", "-n", "--zap", "--clear", "--delete", "--new", "--load"),
    "parted": ("mklabel", "mktable", "mkpart", "rm", "resizepart"),
    "cryptsetup": ("luksFormat", "erase", "luksErase", "reencrypt", "luksKillSlot"),
    "mdadm": ("--zero-superblock", "--create"),
    "diskutil": ("eraseDisk", "eraseVolume", "zeroDisk", "secureErase", "partitionDisk"),
    "zpool": ("create", "labelclear"),
}
_LOOKS = {
    "sfdisk": ("-l", "--list", "-d", "--dump", "-J", "--json", "-s", "-V", "--verify", "-n"),
    "fdisk": ("-l", "--list", "-s", "--getsz", "-x", "--list-details"),
    "gdisk": ("-l",),
}


def _device(called: Called) -> Iterator[Finding]:
    _, operands = split(called.words[1:])
    if any(is_disk(operand) for operand in operands):
        yield _DESTROYS


def _told(called: Called) -> Iterator[Finding]:
    name, words = called.words[0], called.words[1:]
    wanted = _TOLD[name]
    if name == "badblocks":
        told = any(word.startswith("-") and "w" in word for word in words)
    else:
        told = any(word.startswith(wanted) for word in words)
    if told:
        yield from _device(called)


def _looking(called: Called) -> Iterator[Finding]:
    if not any(word.startswith(_LOOKS[called.words[0]]) for word in called.words[1:]):
        yield from _device(called)


def _dd(called: Called) -> Iterator[Finding]:
    yield from onto_disk([word[3:] for word in called.words[1:] if word.startswith("of=")])


def _writer(called: Called) -> Iterator[Finding]:
    yield from onto_disk(split(called.words[1:])[1])


def _second(called: Called) -> Iterator[Finding]:
    yield from onto_disk(split(called.words[1:])[1][1:])


RULES: dict[str, Callable[[Called], Iterator[Finding]]] = {
    **dict.fromkeys(("mke2fs", "mkswap", "wipefs", "blkdiscard"), _device),
    **dict.fromkeys(("pvremove", "pvcreate", "nwipe", "scrub", "cfdisk"), _device),
    **dict.fromkeys(_TOLD, _told),
    **dict.fromkeys(_LOOKS, _looking),
    **dict.fromkeys(("dd", "dcfldd", "dc3dd"), _dd),
    **dict.fromkeys(("tee", "sponge"), _writer),
    **dict.fromkeys(("ddrescue", "dd_rescue", "dd_rhelp"), _second),
}


def rule(name: str) -> Callable[[Called], Iterator[Finding]] | None:
    """The rule for a command of this name, None where it has nothing to do with disks."""
    return _device if name.startswith("mkfs.") or name == "mkfs" else RULES.get(name)
