"""Recomputes the numbers of a bench's report from the journal that it kept, and compares.

    kelvin bench MODEL --journal RUN.jsonl --json > RUN.json
    python3 dev/check-journal.py RUN.jsonl RUN.json

The script shares no code with Kelvin (`dev/journal.py`). Exits 1 and names each number that differs.
"""
import json
import sys

from journal import Checker, Run


def main(journal, report):
    run, document, checker = Run(journal), json.load(open(report, encoding="utf-8")), Checker()
    for configuration, shown in zip(run.configurations, document["configurations"], strict=True):
        for key, expected in run.numbers(configuration).items():
            got = shown
            for part in key.split("."):
                got = (got or {}).get(part)
            checker.compare(f"{shown['units']} {key}", expected, got)
    for comparison in document["comparisons"]:
        level = 1 - comparison["interval"]["confidence"]
        ratio, pairs = run.ratio(comparison["candidate"], comparison["baseline"], comparison["question"], level)
        where = f"{comparison['question']} {comparison['candidate']} against {comparison['baseline']}"
        checker.compare(f"{where}, ratio", ratio, comparison["ratio"])
        checker.compare(f"{where}, pairs", pairs, comparison["pairs"])
    return checker.status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
