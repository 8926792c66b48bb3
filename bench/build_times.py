#!/usr/bin/env python3
"""Measure where the time of a build goes: processor and wall time by module.

    bench/build_times.py [--json FILE] -- COMMAND…

Runs COMMAND and reads /proc every 0.2 seconds. Processes of the Swift and C compilers and of the linker are grouped by the
module that they compile. Processes that live for less than a sample count only in the total, which is the kernel's own.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
INTERVAL = 0.2


def step_of(arguments):
    """The module and the kind of work of a compiler's command line, or None."""
    program = Path(arguments[0]).name
    if program.startswith("swift-frontend") and "-module-name" in arguments:
        return arguments[arguments.index("-module-name") + 1], "Swift"
    if program.startswith("clang") and "-c" in arguments:
        source = next((a for a in reversed(arguments) if a.endswith((".c", ".S", ".cpp", ".m"))), "")
        parts = Path(source).parts
        return (parts[parts.index("Sources") + 1] if "Sources" in parts[:-1] else "C"), "C"
    if program in ("ld.lld", "lld", "ld.gold", "ld", "ld.bfd") and "-o" in arguments:
        return Path(arguments[arguments.index("-o") + 1]).name, "link"
    return None


class Sampler:
    """Collects, for each module, the processor time of its processes and the first and last moment they were seen."""

    def __init__(self):
        self.start = time.monotonic()
        self.known = {}
        self.seconds = {}
        self.seen = defaultdict(lambda: [None, None])
        self.peak = defaultdict(int)

    def sample(self):
        now = time.monotonic() - self.start
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                self.read(Path(entry.path), now)

    def read(self, process, now):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
            key = (process.name, fields[19])
            if key not in self.known:
                arguments = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                self.known[key] = step_of(arguments) if arguments[0] else None
            step = self.known[key]
            if step is None:
                return
            self.seconds[key] = (int(fields[11]) + int(fields[12])) / TICK
            self.peak[step] = max(self.peak[step], int(fields[21]) * resource.getpagesize())
        except (OSError, IndexError):
            return
        span = self.seen[step]
        span[0] = now if span[0] is None else span[0]
        span[1] = now

    def rows(self):
        total = defaultdict(float)
        for key, seconds in self.seconds.items():
            total[self.known[key]] += seconds
        return [
            {
                "module": module, "kind": kind, "processor": round(seconds, 1),
                "from": round(self.seen[module, kind][0], 1), "to": round(self.seen[module, kind][1], 1),
                "memory": self.peak[module, kind],
            }
            for (module, kind), seconds in sorted(total.items(), key=lambda item: -item[1])
        ]


def measure(command):
    sampler, done = Sampler(), threading.Event()

    def watch():
        while not done.wait(INTERVAL):
            sampler.sample()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    status = subprocess.run(command).returncode
    wall = time.monotonic() - sampler.start
    done.set()
    watcher.join()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return status, {"command": command, "wall": round(wall, 1), "processor": round(usage.ru_utime + usage.ru_stime, 1),
                    "modules": sampler.rows()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the measurement there as well")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    status, result = measure(arguments.command)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    print(f"wall {result['wall']:.0f} s, processor {result['processor']:.0f} s")
    print("| module | kind | processor, s | from, s | to, s | memory, MiB |\n|---|---|--:|--:|--:|--:|")
    for row in result["modules"]:
        if row["processor"] >= 1:
            print(f"| {row['module']} | {row['kind']} | {row['processor']:.1f} | {row['from']:.0f} | {row['to']:.0f} "
                  f"| {row['memory'] >> 20} |")
    return status


if __name__ == "__main__":
    sys.exit(main())
