"""Measures the share of the machine that other processes took during a measurement."""

import os
import resource
import sys
import time

LIMIT = 0.02


def warn():
    """Prints conditions that would make a comparison noisy or unfair; returns the load average."""
    load = os.getloadavg()[0]
    if load > 0.3:
        print(f"warning: load average {load:.2f} before the start; results will be noisy", file=sys.stderr)
    if os.nice(0) != 0:
        print("warning: started with nice; threads of Kelvin's that Dispatch makes go back to the usual priority where they may, "
              "peers stay below it: results will be unfair", file=sys.stderr)
    return load


def busy():
    """Seconds that all processors together have been busy since the start, time taken by the host included."""
    with open("/proc/stat") as file:
        fields = [int(field) for field in file.readline().split()[1:]]
    user, nice, system, _, _, irq, softirq, steal = fields[:8]
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own():
    """Processor seconds of this process and of the children that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Window:
    """`others` is the part of all processors' time, 0 to 1, that went to neither this process nor its children."""

    def __enter__(self):
        self.start = time.perf_counter(), busy(), own()
        return self

    def __exit__(self, *_):
        begin, before, mine = self.start
        available = (time.perf_counter() - begin) * os.cpu_count()
        self.others = max(0.0, (busy() - before) - (own() - mine)) / available
