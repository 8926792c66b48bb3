#!/usr/bin/env python3
"""Measure what each test suite takes alone, in a process of its own: wall time, processor time and peak memory.

    bench/test_times.py [--json FILE] [--limit SECONDS] [PATTERN]

Needs a build of the tests (`make test`). The runner's own times tell little where all suites run at once, since a test's
time then includes that of the tests it waits for. Suites are found by `swift test list`; PATTERN is a regular expression for
their names.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

SWIFT = ["swift", "test", "-c", "release", "--disable-testable-imports", "--skip-build"]


def suites(pattern):
    listed = subprocess.run(
        [*SWIFT, "list"], check=True, capture_output=True, text=True).stdout.splitlines()
    names = {line.rsplit("/", 1)[0] for line in listed if "/" in line}
    return sorted(name for name in names if re.search(pattern, name))


def binary():
    folder = subprocess.run(
        ["swift", "build", "-c", "release", "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    return next(Path(folder).glob("*PackageTests.xctest"))


def run(program, suite, limit):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [program, "--testing-library", "swift-testing", "--filter", f"^{re.escape(suite)}/"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        output, status = process.communicate()[0], "limit"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    tests = re.search(r"Test run with (\d+) test", output)
    return {
        "suite": suite, "status": status, "tests": int(tests.group(1)) if tests else 0,
        "wall": round(time.monotonic() - start, 2),
        "processor": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the rows there as they come")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a suite is ended")
    parser.add_argument("pattern", nargs="?", default="")
    arguments = parser.parse_args()
    os.environ.setdefault("SWIFT_DETERMINISTIC_HASHING", "1")
    program, rows = binary(), []
    for suite in suites(arguments.pattern):
        rows.append(run(program, suite, arguments.limit))
        if arguments.json:
            Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")
    print("| suite | tests | wall, s | processor, s |\n|---|--:|--:|--:|")
    for row in sorted(rows, key=lambda row: -row["wall"]):
        print(f"| {row['suite']} | {row['tests']} | {row['wall']:.1f} | {row['processor']:.1f} |")
    print(f"| all | {sum(row['tests'] for row in rows)} | {sum(row['wall'] for row in rows):.0f} "
          f"| {sum(row['processor'] for row in rows):.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
