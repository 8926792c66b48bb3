"""Measures every layer of four networks against the machine's limits. README.md says more.

Usage: rooflines.py [--kelvin PATH] [--models NAME,…] [--batch N] [--threads N] [--isa avx2] [--rounds N]
                    [--budget SECONDS] [--name NAME]
"""

import argparse
import statistics
import sys
import tempfile
from datetime import date

import comparing
import isa
import layers
import quiet
import report
import roofline_text
import walls
from catalog import ROOT, TITLES, Case
from contenders import ContenderFailed, Kelvin, driver

MODELS = ("mobilenet_v2", "resnet50", "vit_b16", "unet")
WORST = 5


def floor(layer, limits, weightLevel):
    """Returns the least seconds that a layer can take, by arithmetic and by traffic, and the larger of the two."""
    activationLevel = limits.level(layer.activationBytes)
    traffic = {"weights": layer.weightBytes / limits.bandwidth[weightLevel],
               "activations": layer.activationBytes / limits.bandwidth[activationLevel]}
    arithmetic, moving = layer.definedOperations / limits.operations, sum(traffic.values())
    larger = max(traffic, key=traffic.get)
    level = weightLevel if larger == "weights" else activationLevel
    bound = "arithmetic" if arithmetic >= moving else f"{larger}, {level}"
    if not arithmetic + moving:
        bound = "–"
    return {"arithmetic": arithmetic, "traffic": moving, "floor": max(arithmetic, moving), "bound": bound}


def level_of_weights(network, limits):
    """Weights are read once in an inference: from the level in which all of them fit beside the largest layer's
    activations."""
    used = sum(layer.weightBytes for layer in network) + max(layer.activationBytes for layer in network)
    return "L3" if used <= limits.sizes["L3"] else "memory"


def folded(network, limits):
    """Returns one entry for each computation, in the order of the network; seconds are the mean of equal layers."""
    weightLevel = level_of_weights(network, limits)
    alike = {}
    for layer in network:
        alike.setdefault(layer.signature, []).append(layer)
    return [entry(same, floor(same[0], limits, weightLevel)) for same in alike.values()]


def entry(same, least):
    first, seconds = same[0], statistics.fmean(layer.seconds for layer in same)
    return {"name": first.name, "count": len(same), "operator": first.title, "shapes": first.shapes,
            "signature": first.signature, "terms": first.terms, "operations": first.definedOperations,
            "weightBytes": first.weightBytes, "activationBytes": first.activationBytes,
            "age": min(layer.age for layer in same), **least, "seconds": seconds,
            "gap": seconds / least["floor"] if least["floor"] else None,
            "lost": len(same) * (seconds - least["floor"])}


def limited(to):
    """Returns the variables that limit Kelvin's vector width."""
    return tuple(isa.KELVIN[to].items()) if to else ()


def measured(case, program, arguments):
    """Rounds of the walls, of the layers and of whole inferences in turn."""
    threads = arguments.threads
    kelvin = Kelvin(
        arguments.kelvin, str(case.model()[0]), case.inputs(), "cpu", threads, "full", threads, limited(arguments.isa))
    vector = isa.VECTOR.get(arguments.isa, 64)
    turns = [lambda: walls.measure(program, threads, vector), lambda: layers.profiled(kelvin, arguments.budget),
             lambda: kelvin.round(20, 1.0)["p50"]]
    (limits, profiles, whole), disturbed = comparing.interleaved(turns, arguments.rounds)
    return {"name": case.name, "title": case.title, "walls": limits, "layers": layers.merged([each.layers for each in profiles]),
            "profiled": statistics.median(each.account["endToEnd"] for each in profiles), "whole": statistics.median(whole),
            "disturbedRounds": disturbed}


def condensed(case, limits):
    entries = folded(case["layers"], limits)
    result = {key: case[key] for key in ("name", "title", "profiled", "whole", "disturbedRounds")}
    operations = sum(layer.definedOperations for layer in case["layers"])
    result |= {"share": operations / case["whole"] / limits.operations, "sum": sum(layer.seconds for layer in case["layers"]), "weightLevel": level_of_weights(case["layers"], limits),
               "floor": sum(each["count"] * each["floor"] for each in entries), "layers": entries}
    worst = sorted(entries, key=lambda each: each["lost"], reverse=True)[:WORST]
    result["worst"] = [{"name": each["name"], "sentence": roofline_text.sentence(case["name"], each, result, limits)}
                       for each in worst if each["lost"] > 0]
    return result


def parse():
    parser = argparse.ArgumentParser(description="Compare every layer's time with what the machine allows.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--models", default=",".join(MODELS), help=f"of {', '.join(TITLES)}")
    parser.add_argument("--batch", type=int, default=1, help="items in an inference")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--isa", choices=sorted(isa.KELVIN), help="vectors no wider than these, of Kelvin and of the walls")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=10, help="seconds of profiling in a round")
    parser.add_argument("--name", default="rooflines", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.isa:
        isa.check_kelvin(arguments.kelvin, arguments.isa)
    load = quiet.warn()
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        program = walls.build(folder)
        for name in arguments.models.split(","):
            case = Case(name, arguments.batch)
            print(f"{case.title} …", file=sys.stderr, flush=True)
            cases.append(measured(case, program, arguments))
    limits = walls.highest([each for case in cases for each in case["walls"]])
    models = [condensed(case, limits) for case in cases]
    machine = report.machine([]) | {"kelvin": driver(arguments.kelvin, limited(arguments.isa))}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load, "rounds": arguments.rounds,
              **{key: getattr(arguments, key) for key in ("budget", "batch", "threads", "isa")}, "walls": vars(limits),
              "comparisons": models}
    text = roofline_text.markdown(result)
    report.save(arguments.name, result, text)
    for model in models:
        print(roofline_text.account(model))
    for each in roofline_text.stale(models):
        print(f"warning: explains a layer that is not there: {each}", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"rooflines.py: {failure}")
