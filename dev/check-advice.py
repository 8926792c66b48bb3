"""Recomputes an advice from the journals that it kept, and compares: the figures of its table, what separates each pick
from the second best, and, where no difference was measured, that the right one of the equals is picked.

    kelvin advise MODEL --json > ADVICE.json
    python3 dev/check-advice.py ADVICE.json

Nothing of Kelvin's is used (`dev/journal.py`). What has to last is simulated, and is not looked at. Exits 1 and names each
number that differs.
"""
import json
import sys

from journal import Checker, Run

# What decides, in the order in which it is asked for.
SERIES = {"photo": ["start", "warm"], "stream": ["served", "latency"], "throughput": ["served"]}
# Differences below this share are not called differences.
SMALLEST = 0.02
EXACTNESS = ["full", "automatic", "high", "low"]


def figures(run, part, label):
    """By their keys in a row, what one journal tells of a configuration; empty where it was not measured."""
    configuration = run.configuration(label)
    if configuration is None or configuration["failed"]:
        return {}
    numbers = run.numbers(configuration)
    if part == "photo":
        return {"first": numbers["first"], "firstCold": numbers["coldTotal"], "warm": numbers.get("warm.p50")}
    if part == "throughput":
        return {"throughput.rate": numbers["throughput"]}
    return {f"stream.{key}": numbers[key] for key in ["p50", "p99", "served"]}


def check_pick(checker, run, pick, rows):
    question, own = pick["question"], pick["configuration"]
    equals = set(pick["equals"])
    measured = [row["configuration"] for row in rows if figures(run, question, row["configuration"])]
    others = [label for label in measured if label != own and label not in equals]
    if equals:
        def rank(label):
            row = next(row for row in rows if row["configuration"] == label)
            energy = (row.get("energy") or {}).get("ratio")
            return (max(0, EXACTNESS.index(row["precision"]) - 1), float("inf") if energy is None else energy, row["threads"])
        better = [label for label in equals if rank(label) < rank(own)]
        checker.expect(question, not better, f"{own} was picked among equals, and {', '.join(better)} comes before it")
        return
    if not pick["isBeyondNoise"] or not others:
        return
    found = [{label: run.ratio(label, own, series)[0] for label in others}
             for series in SERIES[question] if all(run.seconds(run.configuration(each), series)[0] for each in measured)]
    where = f"{question}: {pick['secondBest']} against {own}"
    checker.expect(where, any(min(ratios.values()) == ratios[pick["secondBest"]] for ratios in found), "is not the second best")
    checker.expect(where, any(abs(ratios[pick["secondBest"]] / pick["secondBestRatio"] - 1) < 1e-9 for ratios in found),
                   f"{pick['secondBestRatio']} was printed, the journal has {found}")
    checker.expect(where, any(min(ratios.values()) >= 1 + SMALLEST for ratios in found), "is within what is no difference")


def main(path):
    document, checker = json.load(open(path, encoding="utf-8")), Checker()
    runs = {run.head["workload"]["name"].removeprefix("advise-"): run for run in map(Run, document["journals"])}
    for row in document["rows"]:
        for part, run in runs.items():
            for key, expected in figures(run, part, row["configuration"]).items():
                got = row
                for step in key.split("."):
                    got = (got or {}).get(step)
                checker.compare(f"{row['configuration']} {key}", expected, got)
    for pick in document["picks"]:
        if pick["question"] in runs:
            check_pick(checker, runs[pick["question"]], pick, document["rows"])
    return checker.status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
