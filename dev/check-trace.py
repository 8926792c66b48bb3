#!/usr/bin/env python3
"""Checks a trace against the rules of the Trace Event Format, as chrome://tracing and Perfetto read it: known phases with
their fields, times that are finite and not negative, slices of a thread that nest, flows that begin and end inside a slice
and go forward in time, counters of numbers, every process and thread with a name, and a document that is strict JSON.

The rules come from the format's description, not from Perfetto's importer: the trace processor is on neither PyPI nor Debian
(PyPI's `perfetto` downloads it when it first runs).

Usage: check-trace.py TRACE.json      prints what the trace holds; exit status 1, with the faults, where it breaks a rule
"""

import collections
import json
import math
import sys

FIELDS = {
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "M": {"name", "pid", "args"},
    "C": {"name", "pid", "ts", "args"},
    "i": {"name", "s", "pid", "tid", "ts", "args"},
    "s": {"name", "cat", "id", "pid", "tid", "ts"},
    "f": {"name", "cat", "id", "bp", "pid", "tid", "ts"},
}
METADATA = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index",
            "thread_sort_index": "sort_index"}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def no_number(name):
    raise ValueError(f"{name} is not JSON")


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def check(document):
    faults = []
    events = document.get("traceEvents")
    if document.get("displayTimeUnit") not in (None, "ms", "ns") or not isinstance(events, list):
        return ["no list of traceEvents, or an unknown displayTimeUnit"], {}
    counts = collections.Counter()
    threads, processes = {}, {}
    slices = collections.defaultdict(list)
    flows = collections.defaultdict(dict)
    for number, event in enumerate(events):
        phase = event.get("ph")
        counts[phase] += 1
        missing = FIELDS.get(phase, {"ph that is known"}) - event.keys()
        if missing:
            faults.append(f"event {number} ({phase}) lacks {', '.join(sorted(missing))}")
            continue
        known = len(faults)
        for field in ("ts", "dur"):
            if field in event and not (is_number(event[field]) and event[field] >= 0):
                faults.append(f"event {number}: {field} is {event[field]}")
        if not all(isinstance(event[field], int) for field in ("pid", "tid") if field in event):
            faults.append(f"event {number}: a pid or tid is no whole number")
        if not isinstance(event.get("name", ""), str) or not event.get("name", "-"):
            faults.append(f"event {number} has no name")
        if len(faults) > known:
            continue
        if phase == "M":
            argument = METADATA.get(event["name"])
            if argument is None or argument not in event["args"]:
                faults.append(f"event {number}: metadata {event['name']} without its argument")
            elif event["name"] == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                threads[event["pid"], event["tid"]] = event["args"]["name"]
        elif phase == "X":
            start = nanoseconds(event["ts"])
            slices[event["pid"], event["tid"]].append((start, start + nanoseconds(event["dur"]), event["name"]))
        elif phase == "C":
            if not event["args"] or not all(map(is_number, event["args"].values())):
                faults.append(f"event {number}: the counter {event['name']} has other things than numbers")
        elif phase == "i" and event["s"] not in ("g", "p", "t"):
            faults.append(f"event {number}: an instant of scope {event['s']}")
        elif phase in "sf":
            if phase in flows[event["cat"], event["id"]]:
                faults.append(f"event {number}: the flow {event['id']} has two {phase}")
            flows[event["cat"], event["id"]][phase] = event
    for key, spans in slices.items():
        if key not in threads:
            faults.append(f"thread {key} has no name")
        if key[0] not in processes:
            faults.append(f"process {key[0]} has no name")
        open_ends = []
        for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                faults.append(f"'{name}' overlaps another slice of {threads.get(key)} without being inside it")
            open_ends.append(end)
    for (_, identifier), ends in flows.items():
        if set(ends) != {"s", "f"}:
            faults.append(f"the flow {identifier} has only {', '.join(ends)}")
            continue
        if ends["s"]["ts"] > ends["f"]["ts"]:
            faults.append(f"the flow {identifier} ends before it begins")
        for event in ends.values():
            at = nanoseconds(event["ts"])
            if not any(start <= at <= end for start, end, _ in slices[event["pid"], event["tid"]]):
                faults.append(f"the flow {identifier} does not begin and end inside slices")
    names = {number: sorted(t for (p, _), t in threads.items() if p == number) for number in processes}
    return faults, {"events": dict(counts), "tracks": {processes[p]: names[p] for p in sorted(processes)}}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        try:
            document = json.load(file, parse_constant=no_number)
        except ValueError as error:
            sys.exit(f"check-trace: {error}")
    faults, summary = check(document)
    for fault in faults[:20]:
        print(f"check-trace: {fault}", file=sys.stderr)
    print(json.dumps(summary, ensure_ascii=False))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
