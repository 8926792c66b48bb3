"""Measures how cost grows: with the batch, the size of images and the width of layers; of loading, with bytes and
nodes. README.md says more.

Usage: growth.py [--kelvin PATH] [--only series|loading] [--threads N] [--rounds N] [--iterations N] [--seconds N]
                 [--batches N,…] [--sizes PIXELS,…] [--widths TIMES,…] [--models NAME,…] [--chains N,…] [--name NAME]
"""

import argparse
import os
import statistics
import sys
import tempfile
from datetime import date

import comparing
import growth_models
import growth_text
import layers
import processes
import quiet
import report
from catalog import ROOT, TITLES, Case
from contenders import ContenderFailed, Inputs, Kelvin, driver

BATCHED = ("mobilenet_v2", "resnet50")
SIZED = ("mobilenet_v2", "resnet50", "unet")
WIDENED = {"MobileNetV2": growth_models.mobilenet_v2, "Residual network": growth_models.residual}
LOADED = ("squeezenet", "mobilenet_v2", "mobilenet_v3", "efficientnet_b0", "unet", "densenet121", "resnet50", "convnext_tiny",
          "minilm", "vit_b16")
# A chain whose nodes are fused, and a chain whose nodes are not.
CHAINED = ("Relu", "Sin")
ALLOWED = 1.1


def contender(arguments, path, inputs):
    return Kelvin(arguments.kelvin, str(path), inputs, "cpu", arguments.threads, "full", arguments.threads)


def of_case(arguments, case):
    return contender(arguments, case.model()[0], case.inputs())


def batches(arguments):
    for name in BATCHED:
        one = layers.operations(of_case(arguments, Case(name)))
        points = [{"label": str(count), "items": count, "operations": count * one,
                   "kelvin": of_case(arguments, Case(name, count))} for count in arguments.batches]
        yield {"title": TITLES[name], "axis": "batch", "points": points}


def sizes(arguments):
    for name in SIZED:
        contenders = {size: of_case(arguments, Case(name, 1, size)) for size in arguments.sizes}
        points = [{"label": f"{size}x{size}", "items": 1, "operations": layers.operations(kelvin), "kelvin": kelvin}
                  for size, kelvin in contenders.items()]
        yield {"title": TITLES[name], "axis": "size", "points": points}


def widths(arguments):
    inputs = Case("mobilenet_v2").inputs()
    for title, builder in WIDENED.items():
        contenders = {width: contender(arguments, growth_models.widened(builder, width), inputs) for width in arguments.widths}
        points = [{"label": f"{width:g}", "items": 1, "operations": layers.operations(kelvin), "kelvin": kelvin}
                  for width, kelvin in contenders.items()]
        yield {"title": title, "axis": "width", "points": points}


def judged(values):
    """Returns each value over the least of the values before it; None for the first."""
    return [None if place == 0 else value / min(values[:place]) for place, value in enumerate(values)]


def verdict(ratios):
    most = max((ratio for ratio in ratios if ratio is not None), default=0)
    return "flat or falling" if most <= ALLOWED else f"grows to {most:.2f} times"


def timed(series, arguments):
    print(f"{series['title']}, {series['axis']} …", file=sys.stderr, flush=True)
    turns = [lambda kelvin=point["kelvin"]: kelvin.round(arguments.iterations, arguments.seconds)["p50"]
             for point in series["points"]]
    rounds, disturbed = comparing.interleaved(turns, arguments.rounds)
    points = [{**{key: point[key] for key in ("label", "items", "operations")}, "seconds": statistics.median(seconds),
               "rounds": list(seconds)} for point, seconds in zip(series["points"], rounds)]
    ratios = judged([point["seconds"] / point["operations"] for point in points])
    return {"title": series["title"], "axis": series["axis"], "disturbedRounds": disturbed, "verdict": verdict(ratios),
            "points": [point | {"growth": ratio} for point, ratio in zip(points, ratios)]}


def loaded(arguments):
    """Returns the models to load, each with the chain that it belongs to, if any."""
    for name in arguments.models:
        case = Case(name)
        yield TITLES[name], None, of_case(arguments, case)
    inputs = Inputs(str(growth_models.chain_input()), (("x", (1, growth_models.SIDE)),))
    for operator in CHAINED:
        for count in arguments.chains:
            yield f"{count:,} x {operator}", operator, contender(arguments, growth_models.chained(operator, count), inputs)


def start(kelvin):
    """Starts one process with cold caches and one with warm ones, each by its parts and as a whole `kelvin predict`."""
    with tempfile.TemporaryDirectory() as folder:
        answer = kelvin.bench("loading", "--cache-dir", os.path.join(folder, "bench"))
        whole = [processes.whole(kelvin, "--cache-dir", os.path.join(folder, "predict"))["start"] for _ in range(2)]
    about = {"nodesRun": sum(answer["placement"].values())}
    for state, key, seconds in zip(("cold", "warm"), ("coldStarts", "starts"), whole):
        about[state] = {part: answer[key][0][part] for part in ("load", "compile")} | {"predict": seconds}
    return about


def loading(title, chain, kelvin, arguments):
    print(f"{title} …", file=sys.stderr, flush=True)
    (starts,), disturbed = comparing.interleaved([lambda: start(kelvin)], arguments.rounds)
    medians = {state: {part: statistics.median(each[state][part] for each in starts) for part in starts[0][state]}
               for state in ("cold", "warm")}
    return {"title": title, "chain": chain, "bytes": os.path.getsize(kelvin.model), "nodes": growth_models.nodes(kelvin.model),
            "nodesRun": starts[0]["nodesRun"], "disturbedRounds": disturbed, **medians, "rounds": list(starts)}


def chains(entries):
    """Returns how the time of each node of a chain grows with their number."""
    for operator in CHAINED:
        of_one = [entry for entry in entries if entry["chain"] == operator]
        for state in ("cold", "warm"):
            for what, parts in (("load and compile", ("load", "compile")), ("whole `kelvin predict`", ("predict",))):
                values = [sum(entry[state][part] for part in parts) / entry["nodes"] for entry in of_one]
                if values:
                    yield {"title": f"{operator}, {what}, {state}", "nodes": [entry["nodes"] for entry in of_one],
                           "secondsPerNode": values, "verdict": verdict(judged(values))}


def numbers(kind):
    return lambda text: [kind(word) for word in text.split(",") if word]


def parse():
    parser = argparse.ArgumentParser(description="Time how cost grows.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--only", choices=("series", "loading"), help="of inferences, or of starts")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=5, help="the fewest timed inferences in a round")
    parser.add_argument("--seconds", type=float, default=0.5, help="the fewest seconds of them")
    parser.add_argument("--batches", type=numbers(int), default=[1, 2, 4, 8, 16])
    parser.add_argument("--sizes", type=numbers(int), default=[128, 192, 224, 256, 320, 384, 512])
    parser.add_argument("--widths", type=numbers(float), default=[0.5, 1, 1.5, 2, 3])
    parser.add_argument("--models", type=numbers(str), default=list(LOADED), help="whose loading is timed")
    parser.add_argument("--chains", type=numbers(int), default=[1000, 4000, 16000], help="nodes of chains that are loaded")
    parser.add_argument("--name", default="growth", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    load = quiet.warn()
    series, starts = [], []
    if arguments.only != "loading":
        for each in (*batches(arguments), *sizes(arguments), *widths(arguments)):
            series.append(timed(each, arguments))
            print(growth_text.line(series[-1]), flush=True)
    if arguments.only != "series":
        for title, chain, kelvin in loaded(arguments):
            starts.append(loading(title, chain, kelvin, arguments))
    machine = report.machine([]) | {"kelvin": driver(arguments.kelvin)}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load,
              **{key: getattr(arguments, key) for key in ("rounds", "iterations", "seconds", "threads")},
              "allowed": ALLOWED, "series": series, "loading": starts, "chains": list(chains(starts))}
    report.save(arguments.name, result, growth_text.markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"growth.py: {failure}")
