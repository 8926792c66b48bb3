"""Runs a command; after what it prints, one JSON line has its seconds, the most bytes that it had resident, and its exit status.

Usage: launch.py PROCESSORS COMMAND…

A process of its own, and one of few imports: the kernel counts what a process had resident before it became the command.
"""

import json
import os
import sys
import time

if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[1])])
    begin = time.perf_counter()
    process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "peak": usage.ru_maxrss * 1024, "status": os.waitstatus_to_exitcode(status)}))
