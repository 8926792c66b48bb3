"""Times decoders token by token, and counts compilations for new sizes. README.md says more.

Usage: tokens.py [--kelvin PATH] [--prompt N] [--tokens N] [--duration SECONDS] [--threads N] [--units cpu] [--name NAME]
"""

import argparse
import json
import os
import subprocess
import sys
from datetime import date

import models
import quiet
import report
from catalog import CACHE
from contenders import HERE, ContenderFailed

ROOT = HERE.parent
MODELS = ("gpt2_past", "gpt2_shared")


def measure(arguments, name, unit):
    """Returns the result of `kelvin bench` for one model on one device."""
    command = [arguments.kelvin, "bench", str(models.build(CACHE, name)), "--workload", "tokens", "--units", unit, "--json",
               "--prompt", str(arguments.prompt), "--tokens", str(arguments.tokens), "--duration", str(arguments.duration),
               "--threads", str(arguments.threads), "--no-agreement"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ContenderFailed(f"{name} on {unit}: {done.stderr.strip()}")
    found = json.loads(done.stdout)["configurations"][0]
    if "tokens" not in found:
        raise ContenderFailed(f"{name} on {unit}: {found.get('failure', 'it made no tokens')}")
    return {"model": name, "unit": unit, "drift": found.get("drift"), **found["tokens"]}


def pace(pace, key, text):
    return "–" if pace is None else text(pace[key])


def markdown(result):
    rate = "{:.1f} /s".format
    rows = [report.heading(result, f"a prompt of {result['prompt']}, {result['tokens']} tokens behind it, for "
                                   f"{result['duration']:.0f} s of sequences, {result['threads']} threads"), "",
            "| Model | Unit | First token | Tokens, one-shot | Tokens, sustained | Off a line | Plans, compilations a token |",
            "|---|---|---|---|---|---|---|"]
    for entry in result["entries"]:
        once, again, line = entry["oneShot"], entry.get("sustained"), entry.get("line")
        made = entry["tokens"] - 1
        counts = f"{once['counts']['plans'] / made:.2f}, {once['counts']['compilations'] / made:.2f}"
        rows.append(" | ".join([
            f"| {entry['model']}", entry["unit"], pace(again or once, "firstToken", report.milliseconds),
            rate(once["rate"]), pace(again, "rate", rate), "–" if line is None else f"{line['residual']:.1%}", counts]) + " |")
    for entry in result["entries"]:
        rows += ["", f"{entry['model']} on {entry['unit']}: it remembers in {entry['memory']}.", "",
                 "| Behind tokens | One-shot | Sustained |", "|---|---|---|"]
        for part in entry["stretches"]:
            rows.append(f"| {part['from']} to {part['to']} | {pace(part, 'oneShot', rate)} | "
                        f"{pace(part if 'sustained' in part else None, 'sustained', rate)} |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Time decoders token by token.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--prompt", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--duration", type=float, default=60)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--units", default="cpu")
    parser.add_argument("--name", default="tokens", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = quiet.warn()
    entries = [measure(arguments, name, unit) for name in MODELS for unit in arguments.units.split(",")]
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load,
              "prompt": arguments.prompt, "tokens": arguments.tokens, "duration": arguments.duration,
              "threads": arguments.threads, "entries": entries}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"tokens.py: {failure}")
