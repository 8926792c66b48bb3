"""Compares Kelvin with ONNX Runtime and OpenVINO (CPU) and ncnn (Vulkan) in one run; README.md says what is measured.

Usage: peers.py [--kelvin PATH] [--rounds N] [--iterations N] [--seconds N] [--only cpu|vulkan] [--models NAME,…] [--batch N]
                [--size PIXELS] [--isa avx2 | --crowded | --sessions] [--name NAME]
"""

import argparse
import math
import os
import statistics
import sys
from datetime import date

import comparing
import isa
import ncnn_model
import quiet
import report
import sessions
from catalog import CACHE, FLOAT, ROOT, SEED, SIZE, TITLES, Case
from contenders import ContenderFailed, Kelvin, Peer, driver

CPU_BAR, VULKAN_BAR = 1.0, 1.0
INTEGER_BAR, CROWD_BAR = 0.9, 0.85
# Of the geometric mean.
MEAN_BAR, NARROW_MEAN_BAR = 0.9, 0.95
FIRST_BAR = 1.0
FULL_PRECISION_LIMIT = 1e-3
THREADS = (1, 2)


def cases(arguments):
    """What is run; says what is left out, and why."""
    for name in arguments.models.split(","):
        if name not in TITLES:
            raise SystemExit(f"peers.py: there is no model '{name}'; there are {', '.join(TITLES)}")
        case = Case(name, arguments.batch, arguments.size)
        reason = case.obstacle()
        if reason is None:
            yield case
        else:
            print(f"{case.title} is left out: {reason}", file=sys.stderr, flush=True)


def limits(arguments):
    """The variables of Kelvin and of OpenVINO."""
    if not arguments.isa:
        return (), ()
    return tuple(isa.KELVIN[arguments.isa].items()), tuple(isa.OPENVINO[arguments.isa].items())


def comparisons(arguments):
    """What is compared: a title, Kelvin and its peers, the reference for outputs, and what Kelvin is held to.

    `bar` is for its p50 over the best peer's, `firstBar` for its first inference in seconds, `limit` for its largest
    absolute difference from the reference; None where nothing is demanded.
    """
    every = len(os.sched_getaffinity(0))
    for case in cases(arguments):
        path, weights = case.model()
        about = {"weights": weights, "firstBar": None, "limit": FULL_PRECISION_LIMIT}
        for threads in THREADS if arguments.only != "vulkan" else ():
            if threads <= every:
                yield about | on_the_cpu(arguments, case, str(path), threads)
        if arguments.only != "cpu" and case == Case("mobilenet_v2") and not (arguments.isa or arguments.crowded):
            for comparison in on_vulkan(arguments.kelvin, case, str(path), every):
                yield about | comparison


def on_the_cpu(arguments, case, path, threads):
    kelvin_limit, openvino_limit = limits(arguments)
    inputs = case.inputs()

    def peer(name, program, *options, **others):
        return Peer(name, f"peer_{program}.py", path, inputs, ("--threads", str(threads), *options), threads, **others)

    reference = peer("ONNX Runtime CPU", "onnxruntime")
    # It cannot be kept from wide vectors.
    peers = [] if arguments.isa else [reference]
    if arguments.crowded:
        peers.append(peer("ONNX Runtime CPU, not spinning", "onnxruntime", "--no-spinning"))
    peers.append(peer("OpenVINO CPU", "openvino", environment=openvino_limit))
    if arguments.crowded:
        peers.append(peer("plain work", "work", competes=False))
    kelvin = Kelvin(arguments.kelvin, path, inputs, "cpu", threads, "full", threads, kelvin_limit)
    title = f"{case.title}, CPU, {threads} thread{'s' if threads > 1 else ''}"
    title += f", {arguments.isa}" if arguments.isa else ", crowded" if arguments.crowded else ""
    bar = CROWD_BAR if arguments.crowded else INTEGER_BAR if case.isQuantized else CPU_BAR
    # ONNX Runtime computes some layers of quantized models in float32.
    return {"title": title, "contenders": [kelvin, *peers], "bar": bar, "reference": reference,
            **({"limit": None} if case.isQuantized else {})}


def on_vulkan(binary, case, path, every):
    inputs = case.inputs()
    reference = Peer("ONNX Runtime CPU", "peer_onnxruntime.py", path, inputs, ("--threads", str(every)), every)
    prefix = str(CACHE / case.name)
    ncnn_model.write(path, prefix)
    for option, options, bar in (("default", (), VULKAN_BAR), ("full", ("--full",), None)):
        other = Peer(f"ncnn Vulkan, {option}", "peer_ncnn.py", prefix, inputs, options, every)
        kelvin = Kelvin(binary, path, inputs, "vulkan:0", every, None, every)
        yield {"title": f"{case.title}, Vulkan, peer at {option} precision", "contenders": [kelvin, other], "bar": bar,
               "firstBar": FIRST_BAR if bar else None, "reference": reference}


def compared(arguments):
    """One entry for each comparison, in the order in which they are made."""
    for comparison in comparisons(arguments):
        print(f"{comparison['title']} …", file=sys.stderr, flush=True)
        entry = comparing.compare(comparison, arguments.rounds, arguments.iterations, arguments.seconds, arguments.crowded)
        if arguments.isa:
            entry["kernels"] = isa.openvino_kernels(comparison["contenders"][-1], arguments.isa)
        print(report.line(entry), flush=True)
        yield entry


def rates(arguments):
    for case in cases(arguments):
        print(f"{case.title} …", file=sys.stderr, flush=True)
        path, inputs = str(case.model()[0]), case.inputs()
        entry = sessions.compare(
            case.title, lambda threads: Kelvin(arguments.kelvin, path, inputs, "cpu", threads, "full", 2),
            arguments.rounds, arguments.seconds)
        print(sessions.line(entry), flush=True)
        yield entry


def parse():
    parser = argparse.ArgumentParser(description="Compare Kelvin with its peers.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--iterations", type=int, default=20, help="the fewest timed inferences in a round")
    parser.add_argument("--seconds", type=float, default=1.0, help="the fewest seconds of them")
    parser.add_argument("--only", choices=("cpu", "vulkan"))
    parser.add_argument("--models", default=",".join(FLOAT), help=f"of {', '.join(TITLES)}")
    parser.add_argument("--batch", type=int, default=1, help="items in an inference")
    parser.add_argument("--size", type=int, default=SIZE, help="pixels along a picture's side")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--isa", choices=sorted(isa.KELVIN), help="vectors no wider than these; without ONNX Runtime")
    modes.add_argument("--crowded", action="store_true", help="beside two processes that do nothing but compute")
    modes.add_argument("--sessions", action="store_true", help="Kelvin's rate with two sessions against one")
    parser.add_argument("--name", default="peers", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    load = quiet.warn()
    if arguments.isa:
        isa.check_kelvin(arguments.kelvin, arguments.isa)
    entries = list((rates if arguments.sessions else compared)(arguments))
    machine = report.machine(entries) | {"kelvin": driver(arguments.kelvin, limits(arguments)[0]),
                                         "openblasCoreType": os.environ.get("OPENBLAS_CORETYPE")}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load, "seed": SEED,
              **{key: getattr(arguments, key) for key in ("rounds", "iterations", "seconds", "batch", "size")},
              "comparisons": entries}
    if arguments.sessions:
        report.save(arguments.name, result, sessions.markdown(result))
        return
    on_cpu = [entry["ratio"]["median"] for entry in entries if ", CPU, " in entry["title"]]
    result["geometricMean"] = math.exp(statistics.fmean(map(math.log, on_cpu))) if on_cpu else None
    if on_cpu:
        bars = [entry["bar"] for entry in entries if ", CPU, " in entry["title"]]
        result["geometricMeanBar"] = NARROW_MEAN_BAR if arguments.isa else min([MEAN_BAR, *bars])
        print(report.mean(result))
    report.save(arguments.name, result, report.markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"peers.py: {failure}")
