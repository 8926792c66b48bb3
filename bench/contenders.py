"""The programs that are compared: how one round of each is started, and what it computes."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

HERE = pathlib.Path(__file__).parent
TIMEOUT = 600


class ContenderFailed(Exception):
    """A contender ended with an error, or answered something else than agreed."""


def run(command, processors):
    """Standard output of the command, confined to the first `processors` processors."""
    allowed = sorted(os.sched_getaffinity(0))[:processors]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT,
                              preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    except FileNotFoundError as error:
        raise ContenderFailed(f"{command[0]} is not there: build it, or name it with --kelvin") from error
    except subprocess.TimeoutExpired as error:
        raise ContenderFailed(f"no answer in {TIMEOUT} s: {' '.join(command)}") from error
    if done.returncode != 0:
        raise ContenderFailed(f"exit status {done.returncode}: {' '.join(command)}\n{done.stderr[-2000:]}")
    return done.stdout


@dataclass(frozen=True)
class Peer:
    """A peer behind one of the peer_*.py programs."""

    name: str
    program: str
    model: str
    tensor: str
    option: str
    processors: int

    def command(self, iterations):
        return [sys.executable, str(HERE / self.program), self.model, self.tensor, self.option, str(iterations)]

    def round(self, iterations):
        """{"load", "first", "p50"} in seconds, and what the peer says about itself."""
        return json.loads(run(self.command(iterations), self.processors).splitlines()[-1])

    def outputs(self):
        """{output name: array} for the common input."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outputs.npz")
            run([*self.command(1), path], self.processors)
            with np.load(path) as file:
                return {name: file[name] for name in file.files}


@dataclass(frozen=True)
class Kelvin:
    """The kelvin binary on one unit. `precision` None leaves the choice to Kelvin."""

    binary: str
    model: str
    tensor: str
    units: str
    threads: int
    precision: str | None
    processors: int

    @property
    def name(self):
        return f"Kelvin {self.units}" + (f", {self.precision}" if self.precision else "")

    def options(self):
        precision = ["--precision", self.precision] if self.precision else []
        return ["--units", self.units, "--threads", str(self.threads), *precision, "--json"]

    def round(self, iterations):
        command = [self.binary, "bench", self.model, "--workload", "one-shot", "--iterations", str(iterations)]
        answer = json.loads(run([*command, *self.options()], self.processors))
        configurations = answer.get("configurations", [])
        if len(configurations) != 1 or "p50" not in configurations[0]:
            raise ContenderFailed(f"expected one configuration with p50, got {json.dumps(answer)[:300]}")
        # As for the peers, the first inference alone: a configuration's own `first` counts from the start of the process.
        first = statistics.median(start["first"] for start in configurations[0]["starts"])
        return {"load": configurations[0].get("load"), "first": first, "p50": configurations[0]["p50"]}

    def outputs(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [self.binary, "predict", self.model, "--input", f"image={self.tensor}", "--output-dir", folder]
            answer = json.loads(run([*command, *self.options()], self.processors))
            return {name: np.load(os.path.join(folder, os.path.basename(value["file"])))
                    for name, value in answer["outputs"].items() if "file" in value}
