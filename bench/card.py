"""Settings of the parts of card.sh, and the file to which they append. card.sh sets the variables."""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from dataclasses import replace

import catalog
from contenders import ContenderFailed, Inputs, Kelvin

PACK = pathlib.Path(os.environ.get("KELVIN_CARD_PACK", catalog.ROOT / ".card"))
OUT = pathlib.Path(os.environ.get("KELVIN_CARD_OUT", PACK / "out"))
KELVIN = os.environ.get("KELVIN", str(PACK / "kelvin"))
DEVICE = os.environ.get("KELVIN_CARD_DEVICE", "vulkan:0")
PART = os.environ.get("KELVIN_CARD_PART", "")
# A software driver: sizes and rounds shrink.
IS_REHEARSAL = os.environ.get("KELVIN_CARD_KIND", "software") == "software"
MODEL_PATIENCE = 90.0
THREADS = len(os.sched_getaffinity(0))


def put(**figures):
    """Appends one JSON document to the results, under the name of the part."""
    with open(OUT / "card.jsonl", "a") as file:
        file.write(json.dumps({"part": PART, **figures}) + "\n")


def say(reason):
    """Appends the reason why something is missing."""
    put(missing=str(reason).strip().splitlines()[0][:300])


def attempt(work, *arguments):
    """Runs a step of a part, whose failure leaves out that step alone."""
    try:
        return work(*arguments)
    except (ContenderFailed, OSError, KeyError, ValueError, StopIteration) as failure:
        say(f"{' '.join(map(str, arguments))}: {type(failure).__name__}: {failure}")
        return None


def model(name):
    """Returns the path of a model that card.sh builds in the background, once it is there."""
    path, begin = catalog.CACHE / f"{name}.onnx", time.monotonic()
    while not path.exists():
        if time.monotonic() - begin > MODEL_PATIENCE:
            raise ContenderFailed(f"{name} was not built within {MODEL_PATIENCE:.0f} s")
        time.sleep(0.2)
    return path


def kelvin(name, units=DEVICE, precision=None, **variables):
    """Returns Kelvin with a model of the catalog. `variables` are added to its environment."""
    inputs = catalog.Case(name).inputs()
    return Kelvin(KELVIN, str(model(name)), inputs, units, THREADS, precision, THREADS, tuple(variables.items()))


def of_file(path, units=DEVICE, precision=None, **variables):
    """Returns Kelvin with a model file without free sizes. Its inputs are made up."""
    return Kelvin(KELVIN, str(path), Inputs("", ()), units, THREADS, precision, THREADS, tuple(variables.items()))


def layered(log, robust=None):
    """Returns the variables that load the logging layer."""
    found = {"VK_LAYER_PATH": str(PACK / "layer"), "VK_INSTANCE_LAYERS": "VK_LAYER_KELVIN_card"}
    if log:
        found["KELVIN_CARD_LOG"] = str(log)
    if robust is not None:
        found["KELVIN_CARD_ROBUST"] = str(int(robust))
    return found


class Log:
    """Runs Kelvin with the logging layer, and reads what the layer wrote."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "log.jsonl"
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def lines(self):
        return [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def sums(self):
        """Returns the counts since the last call."""
        found = summed(self.lines())
        self.path.unlink(missing_ok=True)
        return found

    def typical(self):
        """Returns the counts from one large submission to the next, as medians over the run: those of a token."""
        windows, largest = [], max((line.get("submit", 0) for line in self.lines()), default=0)
        for line in self.lines():
            if line.get("submit", 0) > largest / 2:
                windows.append([])
            if windows:
                windows[-1].append(line)
        found = [summed(lines) for lines in windows[:-1]]
        return {key: statistics.median(each[key] for each in found) for key in found[0]} if found else {}


def summed(lines):
    """Returns the counts of the layer's lines."""
    submits = [line for line in lines if "submit" in line]
    return {"dispatches": sum(each["submit"] for each in submits), "submissions": len(submits),
            "waits": sum("wait" in line for line in lines),
            **{key: sum(each[key] for each in submits) for key in ("barriers", "copies", "bytes")}}


def each_more(contender, few, many, run):
    """Returns the layer's counts for each of the inferences by which two otherwise equal runs differ.

    `run` runs the contender with so many inferences.
    """
    with Log() as log:
        watched = replace(contender, environment=(*contender.environment, *layered(log.path).items()))
        counts = []
        for inferences in (few, many):
            run(watched, inferences)
            counts.append(log.sums())
    return {key: (counts[1][key] - counts[0][key]) / (many - few) for key in counts[0]}


def answer(*command, **variables):
    """Returns the JSON that a command prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=os.environ | variables)
    if done.returncode:
        raise ContenderFailed(f"{pathlib.Path(str(command[0])).name}: exit status {done.returncode}: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout)
