"""Confines itself with Landlock, then becomes a command: where there are no user namespaces.

Started as `main([PROGRAM, WORD..., "--", ARGV...])`, a word being `r=PATH` (read), `w=PATH`
(write), `d=PATH` (a device), `network`. Uses the standard library only: every import is paid for
at each command. Never runs the command where a step fails: exit code 126, the cause on standard
error.
"""

import ctypes
import os
import struct

import syscalls  # type: ignore[import-not-found]  # beside this file, in a bare interpreter

LEAST_VERSION = 3
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION = 1
_BENEATH = 1
_READ = 0b1101
_READ_FILE = 0b0101
_WRITE_FILE = 1 << 1 | 1 << 14
_WRITE = _WRITE_FILE | 0b1_0111_1011_0000 | 1 << 13
_IOCTL_DEVICE = 1 << 15
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_NO_NEW_PRIVILEGES = 38
_DROP_BOUND = 24
_SET_SECCOMP = 22
_CAPABILITY_VERSION = 0x20080522
_MOST_CAPABILITIES = 64
_CANNOT = 126


def version() -> int:
    """The kernel's Landlock version, 0 where it has none."""
    found = ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, 0, _ASK_VERSION)
    return max(int(found), 0)


def main(argv: list[str]) -> None:
    """Become the command, confined; never returns."""
    end = argv.index("--")
    try:
        confine(argv[1:end])
        os.execvp(argv[end + 1], argv[end + 1 :])
    except OSError as error:
        os.write(2, f"the command cannot be confined or started: {error}\n".encode())
    finally:
        os._exit(_CANNOT)


def confine(words: list[str]) -> None:
    """Confine this process for ever, as the words say. Raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    rules = _new_rules(library)
    for word in words:
        kind, _, path = word.partition("=")
        if path:
            _allow(library, rules, kind, path)
    _checked(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _drop_capabilities(library)
    _checked(library.syscall(_RESTRICT, rules, 0))
    os.close(rules)
    _filter_calls(library, network="network" in words)


def _new_rules(library: ctypes.CDLL) -> int:
    found = version()
    if found < LEAST_VERSION:
        raise OSError(f"Landlock has version {found} here, {LEAST_VERSION} is needed")
    files = (1 << (15 if found < 5 else 16)) - 1
    asked = struct.pack("=Q", files)
    if found >= 6:
        asked = struct.pack("=QQQ", files, 0, _ABSTRACT_SOCKETS_AND_SIGNALS)
    return _checked(library.syscall(_CREATE, asked, len(asked), 0))


def _allow(library: ctypes.CDLL, rules: int, kind: str, path: str) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        allowed = _rights(kind, os.path.isdir(path), version())
        asked = struct.pack("=Qi", allowed, place)
        _checked(library.syscall(_ADD, rules, _BENEATH, asked, 0))
    finally:
        os.close(place)


def _rights(kind: str, folder: bool, found: int) -> int:
    rights = _READ if folder else _READ_FILE
    if kind == "w":
        rights |= _WRITE if folder else _WRITE_FILE
    if kind == "d":
        rights |= _WRITE_FILE
        if found >= 5:
            rights |= _IOCTL_DEVICE
    return rights


def _drop_capabilities(library: ctypes.CDLL) -> None:
    """Else a node that runs as root hands its own on."""
    for capability in range(_MOST_CAPABILITIES):
        # Fails where there is none of that number, and where none is held any more.
        library.prctl(_DROP_BOUND, capability, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _checked(library.capset(header, bytes(24)))


def _filter_calls(library: ctypes.CDLL, *, network: bool) -> None:
    program = syscalls.filter_of(os.uname().machine, network=network)
    steps = ctypes.create_string_buffer(program, len(program))
    pointer = struct.pack("@HP", len(program) // 8, ctypes.addressof(steps))
    _checked(library.prctl(_SET_SECCOMP, 2, pointer, 0, 0))


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
