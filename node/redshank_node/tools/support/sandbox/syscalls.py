"""Builds the filter of system calls that a command may not make, as the kernel's BPF program.

Loaded beside `launcher.py` in a bare interpreter: uses the standard library only.
"""

import errno
import struct

_LOAD = 0x20
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_FAIL = 0x00050000
_KILL = 0x80000000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_X32_BIT = 0x40000000
_UNIX = 1
_NEW_NAMESPACES = 0x7E020000

# Doors of the kernel that nobody needs to build or test anything. io_uring opens sockets unseen.
_REFUSED = (
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "setns",
    "unshare",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "add_key",
    "request_key",
    "keyctl",
    "open_by_handle_at",
    "kexec_load",
    "init_module",
    "finit_module",
    "delete_module",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "process_vm_writev",
)
# Numbers above 424 are the same on every machine.
_EVERYWHERE = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "clone3": 435,
}
_NUMBERS = {
    "x86_64": {
        "socket": 41,
        "clone": 56,
        "pivot_root": 155,
        "chroot": 161,
        "mount": 165,
        "umount2": 166,
        "init_module": 175,
        "delete_module": 176,
        "kexec_load": 246,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "unshare": 272,
        "perf_event_open": 298,
        "open_by_handle_at": 304,
        "setns": 308,
        "process_vm_writev": 311,
        "finit_module": 313,
        "bpf": 321,
        "userfaultfd": 323,
    },
    "aarch64": {
        "umount2": 39,
        "mount": 40,
        "pivot_root": 41,
        "chroot": 51,
        "unshare": 97,
        "kexec_load": 104,
        "init_module": 105,
        "delete_module": 106,
        "socket": 198,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "clone": 220,
        "perf_event_open": 241,
        "open_by_handle_at": 265,
        "setns": 268,
        "process_vm_writev": 271,
        "finit_module": 273,
        "bpf": 280,
        "userfaultfd": 282,
    },
}
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def knows(machine: str) -> bool:
    """Whether there is a filter for this machine, as `os.uname().machine` names it."""
    return machine in _NUMBERS


def filter_of(machine: str, *, network: bool) -> bytes:
    """The program: the listed calls fail with EPERM, sockets with EACCES: local ones, through which
    other processes would act for the command, and without `network` all others too. Another
    machine's calls kill.
    """
    numbers = {**_EVERYWHERE, **_NUMBERS[machine]}
    program = [
        _statement(_LOAD, _MACHINE),
        _jump(_EQUAL, _MACHINES[machine], 1, 0),
        _statement(_RETURN, _KILL),
        _statement(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        program += [_jump(_AT_LEAST, _X32_BIT, 0, 1), _statement(_RETURN, _KILL)]
    for name in _REFUSED:
        program += _on(numbers[name], [_statement(_RETURN, _FAIL | errno.EPERM)])
    # Its flags lie in memory, where no filter can look: glibc takes clone instead.
    program += _on(numbers["clone3"], [_statement(_RETURN, _FAIL | errno.ENOSYS)])
    program += _on(numbers["clone"], _judged(_ANY_BIT, _NEW_NAMESPACES, errno.EPERM))
    sockets = [_statement(_RETURN, _FAIL | errno.EACCES)]
    if network:
        sockets = _judged(_EQUAL, _UNIX, errno.EACCES)
    program += _on(numbers["socket"], sockets)
    program.append(_statement(_RETURN, _ALLOW))
    return b"".join(program)


def _judged(test: int, value: int, error: int) -> list[bytes]:
    """Fail where the test of the first argument holds."""
    return [
        _statement(_LOAD, _FIRST_ARGUMENT),
        _jump(test, value, 0, 1),
        _statement(_RETURN, _FAIL | error),
        _statement(_RETURN, _ALLOW),
    ]


def _on(number: int, body: list[bytes]) -> list[bytes]:
    return [_jump(_EQUAL, number, 0, len(body)), *body]


def _statement(code: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, 0, 0, value)


def _jump(code: int, value: int, yes: int, no: int) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
