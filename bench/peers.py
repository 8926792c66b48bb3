"""Compares Kelvin with ONNX Runtime and OpenVINO (CPU) and ncnn (Vulkan) in one run; README.md says what is measured.

Usage: peers.py [--kelvin PATH] [--rounds N] [--iterations N] [--only cpu|vulkan] [--models NAME,…] [--name NAME]
"""

import argparse
import math
import os
import pathlib
import statistics
import sys
from datetime import date

import numpy as np

import models
import ncnn_model
import quiet
import report
from contenders import HERE, ContenderFailed, Kelvin, Peer

CACHE = HERE / "cache"
ROOT = HERE.parent
TITLES = {"mobilenet_v2": "MobileNetV2", "mobilenet_v2_int8": "MobileNetV2, 8-bit integers", "resnet50": "ResNet-50",
          "efficientnet_b0": "EfficientNet-B0", "squeezenet": "SqueezeNet 1.1", "mobilenet_v3": "MobileNetV3-L",
          "densenet121": "DenseNet-121", "unet": "U-Net", "regnet_y": "RegNetY-400MF",
          "shufflenet_v2": "ShuffleNetV2"}
CONVOLUTIONAL = "squeezenet,mobilenet_v2,mobilenet_v3,efficientnet_b0,resnet50,densenet121,unet,regnet_y,shufflenet_v2"
CPU_BAR, VULKAN_BAR = 1.0, 1.0
FIRST_BAR = 1.0
FULL_PRECISION_LIMIT = 1e-3
SEED = 1


def model_path(name):
    """(path, where its weights come from)."""
    shared = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT / ".." / "shared"))
    quantized = shared / "models" / "MobileNetV2_int8_qdq.onnx"
    if name == "mobilenet_v2_int8":
        if not quantized.exists():
            raise SystemExit(f"{quantized} is missing; leave mobilenet_v2_int8 out of --models")
        return quantized.resolve(), "ImageNet"
    pretrained = shared / "models" / "MobileNetV2_f32.onnx"
    if name == "mobilenet_v2" and pretrained.exists():
        return pretrained.resolve(), "ImageNet"
    return models.build(CACHE, name), "seeded random"


def input_tensor():
    """One image's worth of uniform values in -1...1, 1x3x224x224."""
    path = CACHE / "input.npy"
    CACHE.mkdir(exist_ok=True)
    np.save(path, np.random.default_rng(SEED).uniform(-1, 1, (1, 3, 224, 224)).astype(np.float32))
    return str(path)


def comparisons(arguments, tensor):
    """What is compared: a title, Kelvin and its peers, the reference for outputs, and what Kelvin is held to.

    `bar` is for its p50 over the best peer's, `firstBar` for its first inference in seconds, `limit` for its largest
    absolute difference from the reference; None where nothing is demanded.
    """
    every = len(os.sched_getaffinity(0))
    for name in arguments.models.split(","):
        path, weights = model_path(name)
        for threads in (1, 2):
            peer = Peer("ONNX Runtime CPU", "peer_onnxruntime.py", str(path), tensor, str(threads), threads)
            peers = [peer]
            if not name.endswith("_int8"):
                peers.append(Peer("OpenVINO CPU", "peer_openvino.py", str(path), tensor, str(threads), threads))
            if arguments.only != "vulkan" and threads <= every:
                kelvin = Kelvin(arguments.kelvin, str(path), tensor, "cpu", threads, "full", threads)
                title = f"{TITLES[name]}, CPU, {threads} thread{'s' if threads > 1 else ''}"
                yield {"title": title, "weights": weights, "contenders": [kelvin, *peers], "bar": CPU_BAR,
                       "firstBar": None,
                       # ONNX Runtime computes some layers of the quantized model in float32.
                       "limit": None if name.endswith("_int8") else FULL_PRECISION_LIMIT, "reference": peer}
        if arguments.only != "cpu" and name == "mobilenet_v2":
            prefix = str(CACHE / name)
            ncnn_model.write(str(path), prefix)
            for option, bar in (("default", VULKAN_BAR), ("full", None)):
                other = Peer(f"ncnn Vulkan, {option}", "peer_ncnn.py", prefix, tensor, option, every)
                kelvin = Kelvin(arguments.kelvin, str(path), tensor, "vulkan:0", every, None, every)
                yield {"title": f"{TITLES[name]}, Vulkan, peer at {option} precision", "weights": weights,
                       "contenders": [kelvin, other], "bar": bar, "firstBar": FIRST_BAR if bar else None,
                       "limit": FULL_PRECISION_LIMIT, "reference": peer}


def difference(outputs, reference):
    """Largest absolute difference over the outputs both have, and whether the best class agrees."""
    common = [name for name in reference if name in outputs]
    if not common:
        raise ContenderFailed(f"outputs {sorted(outputs)} share no name with {sorted(reference)}")
    pairs = [(outputs[n].reshape(-1).astype(np.float64), reference[n].reshape(-1)) for n in common]
    return {"maxAbsolute": float(max(abs(a - b).max() for a, b in pairs)),
            "sameTop1": all(int(a.argmax()) == int(b.argmax()) for a, b in pairs)}


def compare(comparison, rounds, iterations):
    """Runs the contenders in turn, the order reversed every other round, and condenses their rounds.

    A round in which others took more than 2 % of the processors is made again, up to twice as many as were asked for.
    """
    contenders = comparison["contenders"]
    reference = comparison["reference"].outputs()
    agreement = [difference(c.outputs(), reference) for c in contenders]
    kept, disturbed = [], []
    for index in range(2 * rounds):
        if len(kept) == rounds:
            break
        measured = [None] * len(contenders)
        with quiet.Window() as window:
            for which in range(len(contenders)) if index % 2 == 0 else reversed(range(len(contenders))):
                measured[which] = contenders[which].round(iterations)
        (kept if window.others <= quiet.LIMIT else disturbed).append(measured)
    missing = rounds - len(kept)
    results = list(zip(*kept, *disturbed[:missing]))
    best = min(range(1, len(contenders)), key=lambda which: statistics.median(m["p50"] for m in results[which]))
    ratios = [k["p50"] / p["p50"] for k, p in zip(results[0], results[best])]
    entry = {**{key: comparison[key] for key in ("title", "weights", "bar", "firstBar", "limit")},
             "best": best, "disturbedRounds": missing,
             "ratio": {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)}, "contenders": []}
    for contender, measured, agrees in zip(contenders, results, agreement):
        medians = {key: statistics.median(m[key] for m in measured) for key in ("load", "first", "p50")
                   if all(m.get(key) is not None for m in measured)}
        about = {key: measured[0][key] for key in ("version", "driver") if key in measured[0]}
        entry["contenders"].append({"name": contender.name, **about, **medians, "againstONNXRuntime": agrees,
                                    "rounds": [m["p50"] for m in measured]})
    entry["verdict"] = verdict(entry)
    return entry


def verdict(entry):
    """"met", or what was missed; "compared" where nothing is demanded but the right answer."""
    kelvin = entry["contenders"][0]
    agrees = kelvin["againstONNXRuntime"]
    if not agrees["sameTop1"] or (entry["limit"] is not None and not agrees["maxAbsolute"] <= entry["limit"]):
        return "wrong output"
    if entry["bar"] is None:
        return "compared"
    missed = []
    if entry["ratio"]["median"] > entry["bar"]:
        missed.append(f"ratio above {entry['bar']:.1f}")
    if entry["firstBar"] is not None and kelvin.get("first", float("inf")) > entry["firstBar"]:
        missed.append(f"first inference above {entry['firstBar']:.1f} s")
    return "; ".join(missed) or "met"


def parse():
    parser = argparse.ArgumentParser(description="Compare Kelvin with its peers.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--iterations", type=int, default=20, help="timed inferences in a round")
    parser.add_argument("--only", choices=("cpu", "vulkan"))
    parser.add_argument("--models", default=CONVOLUTIONAL, help=f"of {', '.join(TITLES)}")
    parser.add_argument("--name", default="peers", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    load = os.getloadavg()[0]
    if load > 0.3:
        print(f"warning: load average {load:.2f} before the start; results will be noisy", file=sys.stderr)
    entries = []
    for comparison in comparisons(arguments, input_tensor()):
        print(f"{comparison['title']} …", file=sys.stderr, flush=True)
        entries.append(compare(comparison, arguments.rounds, arguments.iterations))
        print(report.line(entries[-1]), flush=True)
    on_cpu = [entry["ratio"]["median"] for entry in entries if ", CPU, " in entry["title"]]
    mean = math.exp(statistics.fmean(map(math.log, on_cpu))) if on_cpu else None
    if mean is not None:
        print(f"geometric mean on the CPU: {mean:.3f}")
    result = {"geometricMean": mean, "date": date.today().isoformat(), "machine": report.machine(entries),
              "loadAverageBefore": load, "rounds": arguments.rounds, "iterations": arguments.iterations, "seed": SEED, "comparisons": entries}
    report.save(arguments.name, result, report.markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"peers.py: {failure}")
