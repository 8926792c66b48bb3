"""The programs that are compared: the start of one round of each, and the outputs."""

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
    """A contender ended with an error, or its answer has the wrong form. `output` is its output until then."""

    def __init__(self, reason, output=""):
        super().__init__(reason)
        self.output = output


def run(command, processors, environment=()):
    """Standard output of the command, confined to the first `processors` processors, with variables added to its environment."""
    allowed = sorted(os.sched_getaffinity(0))[:processors]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=os.environ | dict(environment),
                              preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    except FileNotFoundError as error:
        raise ContenderFailed(f"{command[0]} is not there: build it, or name it with --kelvin") from error
    except subprocess.TimeoutExpired as error:
        raise ContenderFailed(f"no answer in {TIMEOUT} s: {' '.join(command)}") from error
    if done.returncode != 0:
        raise ContenderFailed(f"exit status {done.returncode}: {' '.join(command)}\n{done.stderr[-2000:]}", done.stdout)
    return done.stdout


@dataclass(frozen=True)
class Inputs:
    """A folder with a file NAME.npy for each input, and the shape of each by its name."""

    folder: str
    shapes: tuple

    def options(self):
        """Returns the options of `kelvin`."""
        given = [["--input", f"{name}={self.folder}/{name}.npy"] for name, _ in self.shapes]
        shapes = [["--shape", f"{name}={'x'.join(map(str, shape))}"] for name, shape in self.shapes]
        return [word for pair in given + shapes for word in pair]


@dataclass(frozen=True)
class Peer:
    """A peer behind one of the peer_*.py programs. A peer that does not compete is a yardstick, and computes no
    outputs."""

    name: str
    program: str
    model: str
    inputs: Inputs
    options: tuple
    processors: int
    environment: tuple = ()
    competes: bool = True

    def command(self, iterations, seconds=0.0):
        return [sys.executable, str(HERE / self.program), self.model, self.inputs.folder, *self.options,
                "--iterations", str(iterations), "--seconds", str(seconds)]

    def round(self, iterations, seconds=0.0):
        """Returns {"load", "first", "p50"} in seconds, and the peer's description of itself. No "p50" for no
        iterations."""
        return json.loads(run(self.command(iterations, seconds), self.processors, self.environment).splitlines()[-1])

    def outputs(self):
        """{output name: array} for the common inputs."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outputs.npz")
            run([*self.command(0), "--outputs", path], self.processors, self.environment)
            with np.load(path) as file:
                return {name: file[name] for name in file.files}


@dataclass(frozen=True)
class Kelvin:
    """The kelvin binary on one unit. `precision` None leaves the choice to Kelvin."""

    binary: str
    model: str
    inputs: Inputs
    units: str
    threads: int
    precision: str | None
    processors: int
    environment: tuple = ()
    competes: bool = True

    @property
    def name(self):
        return f"Kelvin {self.units}" + (f", {self.precision}" if self.precision else "")

    def options(self):
        precision = ["--precision", self.precision] if self.precision else []
        return ["--units", self.units, "--threads", str(self.threads), *precision, *self.inputs.options(), "--json"]

    def bench(self, workload, *options):
        """Returns the result of `kelvin bench` for its one configuration."""
        command = [self.binary, "bench", self.model, "--workload", str(HERE / "workloads" / f"{workload}.json"), *options,
                   "--no-agreement", *self.options()]
        answer = json.loads(run(command, self.processors, self.environment))
        configurations = answer.get("configurations", [])
        if len(configurations) != 1 or "p50" not in configurations[0]:
            raise ContenderFailed(f"expected one configuration with p50, got {json.dumps(answer)[:300]}")
        return configurations[0]

    def round(self, iterations, seconds=0.0):
        answer = self.bench("round", "--iterations", str(iterations), "--warm-seconds", str(seconds))
        # As for the peers, `first` is the first inference alone; a configuration's own `first` counts from the start of
        # the process.
        first = statistics.median(start["first"] for start in answer["starts"])
        return {"load": answer.get("load"), "first": first, "p50": answer["p50"]}

    def rate(self, in_flight, seconds):
        """Returns inferences a second with `in_flight` sessions of the model at a time, each at its median time. The
        rate of `kelvin bench` is too high if there are few answers and sessions answer at the same time."""
        return in_flight / self.bench("rate", "--in-flight", str(in_flight), "--duration", str(seconds))["p50"]

    def tune(self):
        """Times every kernel that has not been timed yet. Results are kept and used from then on."""
        with tempfile.TemporaryDirectory() as folder:
            run([*self.predict(folder), "--tuning", "exhaustive"], self.processors, self.environment)

    def predict(self, folder):
        """Returns the command of one whole process."""
        return [self.binary, "predict", self.model, "--output-dir", folder, *self.options()]

    def outputs(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = json.loads(run(self.predict(folder), self.processors, self.environment))
            return {name: np.load(os.path.join(folder, os.path.basename(value["file"])))
                    for name, value in answer["outputs"].items() if "file" in value}


def device(binary, name, environment=()):
    """Returns the entry of a device in `kelvin devices`."""
    devices = json.loads(run([binary, "devices", "--json"], len(os.sched_getaffinity(0)), environment))
    for each in devices:
        if each["id"] == name and each["available"]:
            return each
        if each["id"] == name:
            raise ContenderFailed(f"{name} is of no use here: {each['reason']}")
    raise ContenderFailed(f"there is no {name} here; there are {', '.join(each['id'] for each in devices)}")


def driver(binary, environment=()):
    """Returns the CPU implementation of the binary: its instruction set, and the version of OpenBLAS if it is
    installed."""
    return device(binary, "cpu", environment)["driver"]
