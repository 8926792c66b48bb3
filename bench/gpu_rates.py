"""Measures the share of a plain shader's multiply-add rate that the products of five networks reach on a Vulkan
device. README.md says more.

Usage: gpu_rates.py [--kelvin PATH] [--device ID] [--models NAME,…] [--tune] [--rounds N] [--budget SECONDS] [--seconds N] [--name NAME]
"""

import argparse
import os
import statistics
import sys
from datetime import date

import comparing
import gpu_rates_text
import layers
import plain_shader
import quiet
import report
from catalog import CACHE, ROOT, TITLES, Case
from contenders import ContenderFailed, Kelvin, device

MODELS = ("mobilenet_v2", "resnet50", "vit_b16", "minilm", "unet")
FAMILIES = {"convolution": "convolutions", "convolution_transpose": "convolutions", "linear": "linear layers",
            "matmul": "matrix products", "attention": "matrix products"}
DEPTHWISE = "of these depthwise"
BAR = 0.5
# Families with a smaller share of a network's time are for information: the product of a single row and a matrix is
# limited by memory.
LEAST = 0.01
ACCOUNT_BAR = 0.05
# A transformer's time for an operation, relative to a convolutional network.
RATIO, RATIO_BAR = ("vit_b16", "resnet50"), 3.0


def family(layer):
    return FAMILIES.get(layer.operator)


def is_depthwise(layer):
    return layer.title.startswith("depthwise")


def share(network, plain):
    """Returns operations, seconds and the share of the plain shader's rate."""
    operations, seconds = (sum(getattr(layer, key) for layer in network) for key in ("definedOperations", "seconds"))
    rate = operations / seconds if seconds else 0.0
    return {"layers": len(network), "operations": operations, "seconds": seconds, "rate": rate, "share": rate / plain}


def shares(network, plain):
    """Returns the shares by family, in the order of the table; depthwise convolutions also by themselves, for
    information."""
    found, whole = {}, sum(layer.seconds for layer in network)
    for title in dict.fromkeys(FAMILIES.values()):
        same = [layer for layer in network if family(layer) == title]
        if same:
            met = share(same, plain)
            found[title] = met | {"verdict": verdict(met, whole)}
    apart = [layer for layer in network if is_depthwise(layer)]
    if apart:
        found[DEPTHWISE] = share(apart, plain) | {"verdict": "–"}
    return found


def verdict(met, whole):
    if met["seconds"] < LEAST * whole:
        return f"under {100 * LEAST:.0f} % of the time"
    return "met" if met["share"] >= BAR else f"below {100 * BAR:.0f} %"


def gap(profile):
    """Returns the seconds that an inference with timers spends outside layers."""
    return profile.account["endToEnd"] - profile.account["layers"]


def apart(profile):
    """Returns the time of layers and gaps beyond that of interleaved inferences without timers, as a share of the
    latter. Another process at another time would differ by far more on a shared machine."""
    return (sum(layer.seconds for layer in profile.layers) + gap(profile)) / profile.whole - 1


def measured(case, kelvin, built, name, arguments):
    """Returns rounds of the plain shader, of the layers and of whole inferences in turn."""
    turns = [lambda: plain_shader.measure(built, name), lambda: layers.profiled(kelvin, arguments.budget, arguments.tune),
             lambda: kelvin.round(5, arguments.seconds)["p50"]]
    (plain, profiles, whole), disturbed = comparing.interleaved(turns, arguments.rounds)
    return {"name": case.name, "title": case.title, "plain": plain, "layers": layers.merged([each.layers for each in profiles]),
            "elsewhere": max(each.elsewhere for each in profiles), "whole": statistics.median(whole),
            "gaps": statistics.median(map(gap, profiles)), "inTurn": statistics.median(each.whole for each in profiles),
            "apart": statistics.median(map(apart, profiles)),
            "disturbedRounds": disturbed}


def condensed(case, plain):
    network = case["layers"]
    operations = sum(layer.definedOperations for layer in network if family(layer))
    result = {key: case[key] for key in ("name", "title", "whole", "inTurn", "gaps", "apart", "elsewhere", "disturbedRounds")}
    result |= {"sum": sum(layer.seconds for layer in network), "operations": operations,
               "perOperation": case["whole"] / operations, "families": shares(network, plain)}
    result["verdict"] = "met" if abs(result["apart"]) <= ACCOUNT_BAR else f"more than {100 * ACCOUNT_BAR:.0f} % apart"
    result["layers"] = [{"name": layer.name, "operator": layer.title, "shapes": layer.shapes, "family": family(layer),
                         "operations": layer.definedOperations, "seconds": layer.seconds} for layer in network]
    return result


def compared(models):
    """Compares the time for an operation of a transformer with that of convolutions; None unless both were run."""
    found = {model["name"]: model for model in models}
    if not all(name in found for name in RATIO):
        return None
    one, other = (found[name] for name in RATIO)
    ratio = one["perOperation"] / other["perOperation"]
    return {"titles": [one["title"], other["title"]], "ratio": ratio, "bar": RATIO_BAR,
            "verdict": "met" if ratio <= RATIO_BAR else f"above {RATIO_BAR:.0f} ×"}


def parse():
    parser = argparse.ArgumentParser(description="Compare products on a Vulkan device with what a plain shader reaches.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--device", default="vulkan:0")
    parser.add_argument("--models", default=",".join(MODELS), help=f"of {', '.join(TITLES)}")
    parser.add_argument("--tune", action="store_true", help="have every kernel timed first that nobody has timed yet")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=5, help="seconds of profiling in a round, on each device")
    parser.add_argument("--seconds", type=float, default=1.0, help="the fewest seconds of whole inferences in a round")
    parser.add_argument("--name", default="gpu-rates", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def save(arguments, about, load, cases):
    # The highest rate of the shader in any round.
    plain = {sums: max(each[sums] for case in cases for each in case["plain"]) for sums in plain_shader.SUMS}
    models = [condensed(case, max(plain.values())) for case in cases]
    machine = report.machine([]) | {"drivers": [f"{arguments.device} {about['name']}, {about['driver']}"]}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load, "rounds": arguments.rounds,
              "budget": arguments.budget, "plain": plain, "bar": BAR, "comparisons": models, "ratio": compared(models)}
    text = gpu_rates_text.markdown(result)
    report.save(arguments.name, result, text)
    return text


def main():
    arguments = parse()
    load, every = quiet.warn(), len(os.sched_getaffinity(0))
    about = device(arguments.kelvin, arguments.device)
    built = plain_shader.build(CACHE / "plain_shader")
    cases, text = [], ""
    for name in arguments.models.split(","):
        case = Case(name)
        print(f"{case.title} …", file=sys.stderr, flush=True)
        kelvin = Kelvin(arguments.kelvin, str(case.model()[0]), case.inputs(), arguments.device, every, None, every)
        if arguments.tune:
            kelvin.tune()
        cases.append(measured(case, kelvin, built, about["name"], arguments))
        # Results are saved after each case, so that an interrupted run keeps them.
        text = save(arguments, about, load, cases)
    print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"gpu_rates.py: {failure}")
