"""One limit of memory for a process and those it starts: what would pass it ends in a sentence."""

from __future__ import annotations

import os
import resource

SHARE = 0.85
"""Of the machine's memory, where no limit is given."""
_GB = 10**9


def limit_memory(gigabytes: float | None) -> float | None:
    """Let this process, and each it starts, hold so much data at most; without a number, most of the machine's memory.

    The address space stays free: libraries reserve far more of it than they use.
    """
    present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    n_bytes = int(gigabytes * _GB) if gigabytes else int(SHARE * present)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard), hard))
    return gigabytes
