"""Measures the quality of Kelvin's plans and the time to find them, against HiGHS if it finds a solution. README.md
says more.

Usage: planning.py [--kelvin PATH] [--seconds N] [--only PART] [--name NAME]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from datetime import date

import planning_networks as networks
import planning_problems as problems
import planning_program
import report

ROOT = pathlib.Path(__file__).parent.parent
SEEDS = range(10)


def cases():
    """Returns title, the problems with their seeds, whether HiGHS runs, and the limits."""
    def layered(width, depth, devices, goal="latency", links="near", seeds=SEEDS):
        return [problems.layered(width, depth, devices, seed, goal, links) for seed in seeds]
    for width in (20, 40):
        yield f"latency, {width} wide, 20 deep, 2 devices", layered(width, 20, 2), 1, {"gap": 0, "seconds": 2}
    for width in (20, 40):
        for links in ("near", "far"):
            yield (f"latency, {width} wide, 20 deep, 3 devices, {links}", layered(width, 20, 3, links=links), 1,
                   {"gap": 0.05, "seconds": 2})
    yield "latency, 20 wide, 200 deep, 2 devices", layered(20, 200, 2, seeds=[0]), 0, {"gap": 0}
    yield "latency, 40 wide, 250 deep, 2 devices", layered(40, 250, 2, seeds=[0]), 0, {"gap": 0}
    for links in ("near", "far"):
        yield (f"latency, 12 heads, 12 layers, 8 devices, {links}",
               [problems.attention(12, 12, 8, seed, links=links) for seed in range(3)], 0, {"gap": 0.05})
    for devices in (2, 3):
        for width in (10, 20):
            yield (f"throughput, {width} wide, 20 deep, {devices} devices", layered(width, 20, devices, "throughput"), 0,
                   {"gap": 0.01})
        yield (f"one-shot, 40 wide, 20 deep, {devices} devices", layered(40, 20, devices, "one-shot", seeds=range(3)), 0,
               {"seconds": 2})
    for goal in ("throughput", "sustained"):
        for devices in (2, 3):
            yield (f"{goal}, 40 wide, 250 deep, {devices} devices", layered(40, 250, devices, goal, seeds=[0]), 0,
                   {"gap": 0.01, "seconds": 2})
    for name, network in networks.NETWORKS.items():
        yield (f"latency, {name}, a card with 5 to 100 % of its weights",
               [network().problem(share) for share in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1)], 8,
               {"gap": 0.02, "excess": 0.02})


# The kernel counts the parent's memory for a process until it starts its program, so a small process stands between.
PROBE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, file=sys.stderr)
sys.exit(status)
"""


def plan(kelvin, path):
    """Kelvin's answer, with the processor seconds and the peak memory of its process."""
    command = [sys.executable, "-S", "-c", PROBE, kelvin, "plan", "--problem", path, "--json"]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"planning.py: kelvin plan --problem {path} ended with status {process.returncode}")
    answer = json.loads(process.stdout)
    seconds, memory = process.stderr.split()[-2:]
    return {"objective": answer["objective"], "method": answer["method"], "gap": answer["gap"],
            "seconds": float(seconds), "peakMemory": int(memory)}


def measure(kelvin, title, documents, asked, bars, limit, folder):
    runs = []
    for number, document in enumerate(documents):
        path = os.path.join(folder, "problem.json")
        pathlib.Path(path).write_text(json.dumps(document))
        run = plan(kelvin, path)
        if number < asked:
            best, bound = planning_program.solve(document, limit)
            run["highs"] = {"objective": best, "bound": bound}
            if best is not None:
                run["excess"] = run["objective"] / best - 1
        runs.append(run)
    worst = {"gap": max(r["gap"] for r in runs), "seconds": max(r["seconds"] for r in runs),
             "excess": max((r["excess"] for r in runs if "excess" in r), default=None)}
    missed = [name for name, bar in bars.items() if worst[name] is not None and worst[name] > bar + 1e-9]
    return {"title": title, "bars": bars, "worst": worst, "isMet": not missed,
            "medianSeconds": statistics.median(r["seconds"] for r in runs),
            "peakMemory": max(r["peakMemory"] for r in runs), "runs": runs}


def percent(part):
    return "–" if part is None else f"{100 * part:.2f} %"


def markdown(result):
    rows = [f"Measured {result['date']} on {result['machine']['processors']} processors of "
            f"{result['machine']['processor']}; HiGHS had {result['limit']:.0f} s for each problem that it was asked; "
            f"load average before: {result['loadAverageBefore']:.2f}.", "",
            "| Problems | Seeds | Processor time, median (most) | Memory | Stated gap, largest | Over HiGHS | Held to | Met |",
            "|---|---|---|---|---|---|---|---|"]
    names = {"gap": "gap", "seconds": "time", "excess": "over HiGHS"}
    for entry in result["entries"]:
        worst = entry["worst"]
        bars = ", ".join(f"{names[name]} {f'{bar:.0f} s' if name == 'seconds' else percent(bar)}"
                         for name, bar in entry["bars"].items())
        rows.append(f"| {entry['title']} | {len(entry['runs'])} | {entry['medianSeconds']:.2f} s "
                    f"({worst['seconds']:.2f} s) | {entry['peakMemory'] / 2**20:.0f} MiB | {percent(worst['gap'])} | "
                    f"{percent(worst['excess'])} | {bars} | {'yes' if entry['isMet'] else 'no'} |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Measure plans of seeded problems.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--seconds", type=float, default=60, help="what HiGHS has for each problem")
    parser.add_argument("--only", default="", help="cases whose title holds this")
    parser.add_argument("--name", default="planning", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        entries = [measure(arguments.kelvin, *case, arguments.seconds, folder)
                   for case in cases() if arguments.only in case[0]]
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load,
              "limit": arguments.seconds, "entries": entries}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
