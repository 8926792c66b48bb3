"""Measures a first result on a device, with empty caches and with filled ones, as whole processes. README.md says
more.

Usage: gpu_starts.py [--kelvin PATH] [--devices ID,…] [--models NAME,…] [--rounds N] [--name NAME]
"""

import argparse
import os
import pathlib
import sys
import tempfile
from dataclasses import dataclass, replace
from datetime import date

import comparing
import processes
import quiet
import report
from catalog import ROOT, TITLES, Case
from contenders import ContenderFailed, Kelvin, Peer, device

# Limits in seconds: of a cold start by kind of device and model, and of a warm start beyond one warm inference.
COLD_BARS = {"vulkan": {"mobilenet_v2": 1.0, "resnet50": 1.5, "vit_b16": 3.0},
             "opencl": {"mobilenet_v2": 3.0, "resnet50": 3.0, "vit_b16": 3.0}}
WARM_BARS = {"vulkan": 0.4}
# The variables for drivers' caches: Mesa, PoCL, NVIDIA's Vulkan and OpenCL, Intel's OpenCL, and the desktop default for
# others.
DRIVER_CACHES = ("MESA_SHADER_CACHE_DIR", "POCL_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH", "CUDA_CACHE_PATH", "NEO_CACHE_DIR",
                 "XDG_CACHE_HOME")
LIMIT = 1e-3
FIGURES = ("cold", "warm", "inference")


@dataclass(frozen=True)
class Setting:
    """A model on a device."""

    case: Case
    kelvin: Kelvin

    @property
    def title(self):
        return f"{self.case.title}, {self.kelvin.units}"

    @property
    def kind(self):
        return self.kelvin.units.partition(":")[0]

    def turn(self):
        """Returns a start with all caches empty, a start with the caches that it left, and one warm inference."""
        with tempfile.TemporaryDirectory() as folder:
            kelvin = replace(self.kelvin, environment=tuple(caches(folder).items()))
            options = ("--cache-dir", os.path.join(folder, "kelvin"))
            cold, warm = (processes.whole(kelvin, *options)["start"] for _ in range(2))
            return {"cold": cold, "warm": warm, "inference": kelvin.round(3, 0.5)["p50"]}


def caches(folder):
    """Returns a separate folder for each cache."""
    places = {name: os.path.join(folder, name.strip("_")) for name in DRIVER_CACHES}
    for place in places.values():
        os.mkdir(place)
    return places


def settings(arguments):
    every = len(os.sched_getaffinity(0))
    for name in arguments.models.split(","):
        case = Case(name)
        path, inputs = str(case.model()[0]), case.inputs()
        # The file is read once, so that no start waits for the disk.
        pathlib.Path(path).read_bytes()
        for unit in arguments.devices.split(","):
            yield Setting(case, Kelvin(arguments.kelvin, path, inputs, unit, every, None, every))


def agreement(setting):
    kelvin = setting.kelvin
    reference = Peer("ONNX Runtime CPU", "peer_onnxruntime.py", kelvin.model, kelvin.inputs,
                     ("--threads", str(kelvin.threads)), kelvin.processors)
    return comparing.difference(kelvin.outputs(), reference.outputs())


def entry(setting, agrees, rounds):
    medians = {key: comparing.summary([each[key] for each in rounds]) for key in FIGURES}
    cold = COLD_BARS.get(setting.kind, {}).get(setting.case.name)
    allowed = WARM_BARS.get(setting.kind)
    warm = None if allowed is None else allowed + medians["inference"]["median"]
    result = {"title": setting.title, "agreement": agrees, "coldBar": cold, "warmBar": warm, **medians, "rounds": list(rounds)}
    return result | {"verdict": verdict(result)}


def verdict(entry):
    if not entry["agreement"]["sameTop1"] or not entry["agreement"]["maxAbsolute"] <= LIMIT:
        return "wrong output"
    bars = {"cold": entry["coldBar"], "warm": entry["warmBar"]}
    missed = [f"{key} above {bar:.2f} s" for key, bar in bars.items() if bar is not None and entry[key]["median"] > bar]
    return "; ".join(missed) or ("compared" if set(bars.values()) == {None} else "met")


def seconds(figures):
    return f"{figures['median']:.2f} s ({figures['min']:.2f} to {figures['max']:.2f})"


def bar(value):
    return "–" if value is None else f"{value:.2f} s"


def cells(entry):
    return [entry["title"], seconds(entry["cold"]), bar(entry["coldBar"]), seconds(entry["warm"]), bar(entry["warmBar"]),
            report.milliseconds(entry["inference"]["median"]), entry["verdict"]]


def markdown(result):
    rows = [report.heading(result, f"{result['rounds']} rounds, interleaved"), "",
            "Whole processes of `kelvin predict`: cold with empty caches of Kelvin's and of the driver's, warm with what the cold "
            "one left there. The model's file had been read before. On Vulkan a warm start is held to 0.40 s and one warm inference.",
            "",
            "| Setting | Cold, median (min to max) | At most | Warm, median (min to max) | At most | Warm inference | Verdict |",
            "|---|---|---|---|---|---|---|"]
    rows += [f"| {' | '.join(cells(each))} |" for each in result["comparisons"]]
    if result["disturbedRounds"]:
        rows += ["", f"In {result['disturbedRounds']} rounds that were kept others took more than 2 % of the processors."]
    return "\n".join(rows) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Measure what a first result costs on devices.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--devices", default="vulkan:0,opencl:0")
    parser.add_argument("--models", default=",".join(COLD_BARS["vulkan"]), help=f"of {', '.join(TITLES)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--name", default="gpu-starts", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    load = quiet.warn()
    drivers = [f"{unit} {about['name']}, {about['driver']}" for unit in arguments.devices.split(",")
               for about in [device(arguments.kelvin, unit)]]
    every = list(settings(arguments))
    agreements = [agreement(setting) for setting in every]
    rounds, disturbed = comparing.interleaved([setting.turn for setting in every], arguments.rounds)
    entries = [entry(*each) for each in zip(every, agreements, rounds)]
    result = {"date": date.today().isoformat(), "machine": report.machine([]) | {"drivers": drivers}, "loadAverageBefore": load,
              "rounds": arguments.rounds, "disturbedRounds": disturbed, "comparisons": entries}
    text = markdown(result)
    report.save(arguments.name, result, text)
    print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"gpu_starts.py: {failure}")
