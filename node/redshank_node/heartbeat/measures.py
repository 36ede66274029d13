"""Measures this process with its machine."""

import os
import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")


def memory_bytes() -> int:
    """What the process holds of the machine's memory; its peak where the system has no /proc."""
    try:
        pages = int(_STATM.read_text().split()[1])
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return pages * resource.getpagesize()


def load() -> float:
    """The load average over a minute, divided by the processors: 1.0 is a machine in full use."""
    return round(os.getloadavg()[0] / (os.cpu_count() or 1), 2)
