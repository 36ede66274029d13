"""Bounds what each process of a command may use."""

import shlex

import msgspec

_MIB = 1024 * 1024
_KIB = 1024


class ProcessLimits(msgspec.Struct, frozen=True):
    """What one process may use, in bytes, seconds, numbers; 0 where there is no bound.

    `scratch_bytes` bounds a command's own /tmp; `processes` counts all of a command's.
    """

    address_space_bytes: int = 0
    cpu_seconds: int = 0
    file_bytes: int = 0
    scratch_bytes: int = 1024 * _MIB
    processes: int = 0
    open_files: int = 0


def limited(
    argv: tuple[str, ...], limits: ProcessLimits, scratch: str, homes: tuple[str, ...]
) -> tuple[str, ...]:
    """The command line that sets the limits for itself, then becomes `argv`.

    Set inside the sandbox: there the processes of the command alone are counted. A limit above what
    the node itself has is left as it is. The shell is bash, for no other counts processes. HOME and
    TMPDIR are `scratch` where they do not lie in one of `homes`.
    """
    bounds = {
        "v": limits.address_space_bytes // _KIB,
        "t": limits.cpu_seconds,
        "f": limits.file_bytes // _KIB,
        "u": limits.processes,
        "n": limits.open_files,
        "c": 0,
    }
    words = [f"ulimit -{key} {bound}" for key, bound in bounds.items() if bound or key == "c"]
    words += [_kept(name, scratch, homes) for name in ("HOME", "TMPDIR")]
    script = " 2>/dev/null; ".join([*words, 'exec "$@"'])
    return ("/bin/bash", "--norc", "--noprofile", "-c", script, "bash", *argv)


def _kept(name: str, scratch: str, homes: tuple[str, ...]) -> str:
    inside = "|".join(f"{shlex.quote(home)}/*" for home in homes)
    return f'case "${name}/" in {inside}) ;; *) export {name}={shlex.quote(scratch)};; esac'
