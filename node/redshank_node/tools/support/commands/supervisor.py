"""Runs one command as a process of its own, lets nothing of it live on.

`processes.py` starts it with the arguments CONTROL STATUS GRACE_MS LC_CTYPE ARGV... It stands
between the node and the command because a parent-death signal reaches only a direct child: as the
sub-reaper of the command's whole tree, this process sees also what ran away with setsid or a double
fork. CONTROL says `T` (TERM to the tree) or `K` (KILL); its end means that the node is gone,
however it went (F11, F24). STATUS gets a line for each thing that happened. Uses the standard
library only: every import is paid for at each command.
"""

# The public `signal`, `ctypes`, `os` cost as much as the whole rest of the start.
import _ctypes
import _signal as signal  # type: ignore[import-not-found]  # private to CPython, so without types
import posix as os
import select
import time

_SET_DEATH_SIGNAL = 1
_SET_SUBREAPER = 36
_KILL_SECONDS = 1.5
_NAMED_LEFTOVERS = 5


def main(argv: list[str]) -> None:
    """Run `argv[5:]`; end when no process of its tree is left."""
    control, status, grace_seconds = int(argv[1]), int(argv[2]), int(argv[3]) / 1000
    os.set_inheritable(control, False)
    os.set_inheritable(status, False)
    prctl = _ctypes.dlsym(_ctypes.dlopen("", os.RTLD_NOW), "prctl")
    _ctypes.call_cdeclfunction(prctl, (_SET_SUBREAPER, 1, 0, 0, 0))
    # The end of CONTROL is the sure sign. The signal wakes a supervisor that its own command has
    # stopped, and one whose pipe has a copy that outlived the node.
    _ctypes.call_cdeclfunction(prctl, (_SET_DEATH_SIGNAL, signal.SIGCONT, 0, 0, 0))
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGCONT, signal.SIGTERM):
        signal.signal(number, _noted)
    # Python has set this one where the locale is C; the command must not see that (F35).
    if argv[4]:
        os.putenv("LC_CTYPE", argv[4])
    else:
        os.unsetenv("LC_CTYPE")
    shell = _start(argv[5:], prctl, status)
    quiet = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
    _Tree(shell, status, grace_seconds).watch(control, wake)
    # The interpreter's own end would take as long as a command of no length.
    os._exit(0)


def _start(argv: list[str], prctl: int, status: int) -> int:
    parent = os.getpid()
    shell = os.fork()
    if shell:
        _say(status, f"started {shell}")
        return shell
    try:
        os.setsid()
        _ctypes.call_cdeclfunction(prctl, (_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))
        if os.getppid() != parent:
            os._exit(127)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _execute(argv)
    except OSError as error:
        _say(status, f"failed {error.errno}")
    finally:
        os._exit(127)


def _execute(argv: list[str]) -> None:
    """Become the program, which is searched in PATH; OSError says why not."""
    if "/" in argv[0]:
        os.execv(argv[0], argv)
    why: OSError | None = None
    for folder in os.environ.get(b"PATH", b"/bin:/usr/bin").split(b":"):
        try:
            os.execv(folder.decode(errors="surrogateescape") + "/" + argv[0], argv)
        except (FileNotFoundError, NotADirectoryError) as error:
            why = why or error
        except OSError as error:
            why = error
    if why is not None:
        raise why


class _Tree:
    """The processes below this one, from the first to the last."""

    def __init__(self, shell: int, status: int, grace_seconds: float) -> None:
        self._shell = shell
        self._status = status
        self._grace_seconds = grace_seconds
        self._node = os.getppid()
        self._ended_at: float | None = None
        self._killing_since: float | None = None

    def watch(self, control: int, wake: int) -> None:
        watched = [control, wake]
        while self._reap():
            self._take_stock()
            ready, _, _ = select.select(watched, [], [], self._patience())
            if wake in ready:
                signals = os.read(wake, 4096)
                if signal.SIGTERM in signals or os.getppid() != self._node:
                    self._kill()
            if control in ready:
                order = os.read(control, 1)
                if order == b"T":
                    self._signal_all(signal.SIGTERM)
                else:
                    self._kill()
                    watched = [wake] if not order else watched

    def _reap(self) -> bool:
        """Collect whoever has ended; whether anybody is left, or left alone as unkillable."""
        while True:
            try:
                process, result = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if process == 0:
                break
            if process == self._shell:
                _say(self._status, f"ended {os.waitstatus_to_exitcode(result)}")
                self._ended_at = time.monotonic()
        since = self._killing_since
        return since is None or time.monotonic() - since < _KILL_SECONDS

    def _take_stock(self) -> None:
        if self._killing_since is not None:
            self._signal_all(signal.SIGKILL)
        elif self._ended_at is not None and self._patience() == 0:
            left = _below(os.getpid())
            for process in left[:_NAMED_LEFTOVERS]:
                _say(self._status, f"left {process} {_title(process)}")
            _say(self._status, f"lefts {len(left)}")
            self._kill()

    def _patience(self) -> float | None:
        if self._killing_since is not None:
            return 0.01
        if self._ended_at is None:
            return None
        return max(self._ended_at + self._grace_seconds - time.monotonic(), 0)

    def _kill(self) -> None:
        if self._killing_since is None:
            self._killing_since = time.monotonic()
        self._signal_all(signal.SIGKILL)

    def _signal_all(self, number: int) -> None:
        for process in _below(os.getpid()):
            # A sandbox that ends takes its command along, before that has heard TERM.
            if number == signal.SIGTERM and process == self._shell and _is_wall(process):
                continue
            try:
                os.kill(process, number)
            except (ProcessLookupError, PermissionError):
                continue


def _below(top: int) -> list[int]:
    """All live processes whose line of parents leads to `top`, parents first."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] != b"Z":
            children.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    todo = [top]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _is_wall(process: int) -> bool:
    try:
        return os.readlink(f"/proc/{process}/exe").endswith("/bwrap")
    except OSError:
        return False


def _title(process: int) -> str:
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            words = file.read(400).replace(b"\x00", b" ").decode(errors="replace")
    except OSError:
        return "?"
    return " ".join(words.split())[:80]


def _say(status: int, line: str) -> None:
    try:
        os.write(status, line.encode() + b"\n")
    except BrokenPipeError:
        # Nobody listens any more: the end of CONTROL says so too, and is acted on there.
        return


def _noted(_number: int, _frame: object) -> None:
    """The wake-up descriptor carries the signal's number; nothing else is to do."""
