"""Times a new size of a flexible input: the first, the second and the tenth new one. README.md says more.

Usage: sizes.py [--tool PATH] [--rounds N] [--units cpu,vulkan:0,opencl:0] [--name NAME]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import date

import models
import report
from contenders import HERE, ContenderFailed, run
from catalog import CACHE, model_path

ROOT = HERE.parent
# The size at load, then new sizes of one bucket, the last of them twice.
SEQUENCES = {"encoder": ("ids=1xN", [64, 64, *range(100, 111), 110]),
             "mobilenet_v2": ("image=Nx3x224x224", [1, 1, *range(9, 17), *range(5, 8), 7])}
FIRST, SECOND, TENTH = 2, 3, 11


def cases(units):
    for name, (inputs, sizes) in SEQUENCES.items():
        path = models.build(CACHE, name) if name == "encoder" else model_path(name)[0]
        for unit in units:
            yield {"model": name, "unit": unit, "path": str(path), "inputs": inputs, "sizes": sizes}


def measure(tool, case, threads, cache):
    """Returns the seconds of loading and of each prediction, in a separate process."""
    command = [tool, case["path"], case["unit"], str(threads), case["inputs"], *map(str, case["sizes"])]
    os.environ["KELVIN_CACHE_DIR"] = cache
    return [float(line) for line in run(command, threads).split()]


def condense(case, rounds):
    """Medians over the rounds. Predictions follow the seconds of loading."""
    def median(place):
        return statistics.median(seconds[1 + place] for seconds in rounds)
    last = len(case["sizes"]) - 1
    return {"model": case["model"], "unit": case["unit"], "sizes": case["sizes"],
            "usualAgain": median(1), "firstNewSize": median(FIRST), "secondNewSize": median(SECOND),
            "tenthNewSize": median(TENTH), "sameSizeAgain": median(last),
            "rounds": [seconds[1:] for seconds in rounds]}


def markdown(result):
    rows = [f"Measured {result['date']} on {result['machine']['processors']} processors of "
            f"{result['machine']['processor']}{result['machine']['devices']}; {result['rounds']} rounds, interleaved; "
            f"load average before: {result['loadAverageBefore']:.2f}.", "",
            "| Model | Unit | Usual size | First new size | Second | Tenth | Latest size again |", "|---|---|---|---|---|---|---|"]
    for entry in result["entries"]:
        keys = ("usualAgain", "firstNewSize", "secondNewSize", "tenthNewSize", "sameSizeAgain")
        times = " | ".join(report.milliseconds(entry[key]) for key in keys)
        rows.append(f"| {entry['model']} | {entry['unit']} | {times} |")
    return "\n".join(rows) + "\n"


def devices(kelvin, units):
    """Returns the names of the units in `kelvin devices`."""
    answer = json.loads(subprocess.run([kelvin, "devices", "--json"], capture_output=True, text=True, check=True).stdout)
    names = [f"{d['id']} {d['name']} ({d.get('driver', '')} {d.get('version', '')})".replace(" )", ")")
             for d in answer if d["id"] in units and d["id"] != "cpu"]
    return "".join(f"; {name}" for name in names)


def main():
    parser = argparse.ArgumentParser(description="Time what a new size costs.")
    parser.add_argument("--tool", default=str(ROOT / ".build" / "release" / "SizeBench"))
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--units", default="cpu,vulkan:0,opencl:0")
    parser.add_argument("--name", default="sizes", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    units = arguments.units.split(",")
    wanted = list(cases(units))
    rounds = [[] for _ in wanted]
    with tempfile.TemporaryDirectory() as cache:
        for number in range(arguments.rounds + 1):
            order = range(len(wanted)) if number % 2 == 0 else reversed(range(len(wanted)))
            for index in order:
                seconds = measure(arguments.tool, wanted[index], arguments.threads, cache)
                # The first round fills the compiled cache.
                if number > 0:
                    rounds[index].append(seconds)
    machine = report.machine([]) | {"devices": devices(arguments.kelvin, units)}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load,
              "rounds": arguments.rounds, "threads": arguments.threads,
              "entries": [condense(case, seconds) for case, seconds in zip(wanted, rounds)]}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"sizes.py: {failure}")
