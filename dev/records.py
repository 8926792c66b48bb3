#!/usr/bin/env python3
"""Records of the checks that take too long for every change: the newest run of each over the whole project.

    dev/records.py                             fails if a record is too old
    dev/records.py begin                       prints the commit, or why the tree is not one
    dev/records.py write CHECK COMMIT KEY=VALUE…   replaces the record of a check

bench/results/checks.json names the commit, the date, the processor, the extent and the findings of each run.
dev/fuzz.sh and dev/sanitize.sh write it.
"""
import datetime
import json
import pathlib
import subprocess
import sys

import source_rules

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORDS = "bench/results/checks.json"
#: The most commits after the one that was checked.
LIMIT = 200
SCRIPTS = {
    "fuzzing": "dev/fuzz.sh", "thread": "dev/sanitize.sh thread",
    "address,undefined": "dev/sanitize.sh address,undefined",
}
#: The folders and files that a check depends on.
CHECKED = ["Package.swift", "Sources", "Tests", "Shaders"]


def git(*arguments):
    """Returns the output of git, or nil where git fails or is missing."""
    try:
        result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def commits_since(commit):
    """Returns the number of commits of this branch that a commit does not contain; None if git does not know."""
    if git("rev-parse", "--is-shallow-repository") != "false" or git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        return None
    count = git("rev-list", "--count", f"{commit}..HEAD")
    return None if count is None else int(count)


def records_are_recent(tree):
    """The newest record of each check may be LIMIT commits old."""
    records = json.loads(tree.text(RECORDS) or "{}")
    for check in sorted(set(SCRIPTS) - set(records)):
        print(f"check: not checked: the age of '{check}', of which no run is recorded", file=sys.stderr)
    for check, record in sorted(records.items()):
        age = tree.ages.get(record["commit"], commits_since(record["commit"]))
        if age is None:
            print(
                f"check: not checked: the age of '{check}', because git does not know commit {record['commit']} or its distance",
                file=sys.stderr)
        elif age > LIMIT:
            yield (
                f"{RECORDS}: '{check}' ran {age} commits ago, at {record['commit']}, {LIMIT} at most: "
                f"run {SCRIPTS.get(check, check)}")


RULES = [records_are_recent]


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else "unknown"


def begin():
    """Prints the commit whose sources lie in the folder."""
    commit = git("rev-parse", "--short=8", "HEAD")
    if commit is None:
        return "git does not know the commit"
    if git("status", "--porcelain", "--", *CHECKED):
        return "sources differ from the commit"
    print(commit)
    return None


def write(check, commit, *figures):
    path = ROOT / RECORDS
    records = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    records[check] = {
        "commit": commit, "date": datetime.date.today().isoformat(), "processor": processor(),
        **{key: int(value or 0) if value.isdecimal() or not value else value for key, value in (figure.split("=") for figure in figures)}}
    path.write_text(json.dumps(records, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments):
    if arguments[:1] == ["begin"]:
        problem = begin()
        if problem:
            print(f"this run will not be recorded: {problem}", file=sys.stderr)
        return 1 if problem else 0
    if arguments[:1] == ["write"]:
        write(*arguments[1:])
        return 0
    complaints = list(records_are_recent(source_rules.Tree(ROOT)))
    for complaint in complaints:
        print(f"check: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
