"""Compares Kelvin with ONNX Runtime and OpenVINO (CPU), ncnn (Vulkan), and on OpenCL with ONNX Runtime, in one run;
README.md describes the measurements.

Usage: peers.py [--kelvin PATH] [--rounds N] [--iterations N] [--seconds N] [--only cpu|vulkan|opencl] [--models NAME,…]
                [--batch N] [--size PIXELS] [--device ID] [--tune] [--isa avx2 | --crowded [N] | --sessions] [--name NAME]
"""

import argparse
import math
import os
import statistics
import sys
from datetime import date

import comparing
import crowd
import isa
import ncnn_model
import quiet
import report
import sessions
from catalog import CACHE, FLOAT, ROOT, SEED, SIZE, TITLES, Case
from contenders import ContenderFailed, Kelvin, Peer, device, driver

CPU_BAR, VULKAN_BAR, OPENCL_BAR = 1.0, 0.2, 1.5
INTEGER_BAR, CROWD_BAR = 0.9, 0.85
# The bars of models whose integers save memory, or are made at each run.
INTEGER_BARS = {"minilm_int8": 1.0, "gpt2_int4": 1.0}
# States of magnitude 1, in which a rounding of one program moves elements of later layers to the next integer.
STATE_LIMITS = {"minilm_int8": 0.1}
# Limits of the geometric mean.
MEAN_BAR, NARROW_MEAN_BAR = 0.9, 0.95
FIRST_BARS = {"mobilenet_v2": 1.0}
FULL_PRECISION_LIMIT = 1e-3
THREADS = (1, 2)
# The models compared on a device; ncnn_model.py cannot convert the others.
ON_DEVICES = {"vulkan": ("squeezenet", "mobilenet_v2", "resnet50", "vit_b16"),
              "opencl": ("mobilenet_v2", "resnet50", "vit_b16", "minilm", "unet")}


def cases(arguments):
    """Returns the cases to run; prints the cases that are left out, and why."""
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
    """Returns the variables that limit Kelvin and OpenVINO."""
    if not arguments.isa:
        return (), ()
    return tuple(isa.KELVIN[arguments.isa].items()), tuple(isa.OPENVINO[arguments.isa].items())


def comparisons(arguments):
    """Returns the comparisons: a title, Kelvin and its peers, the reference for outputs, and Kelvin's limits.

    `bar` is for its p50 over the best peer's, `firstBar` for its first inference in seconds, `limit` for its largest
    absolute difference from the reference; None where nothing is demanded.
    """
    every = len(os.sched_getaffinity(0))
    for case in cases(arguments):
        path, weights = case.model()
        about = {"weights": weights, "firstBar": None, "limit": FULL_PRECISION_LIMIT}
        for threads in THREADS if arguments.only in (None, "cpu") else ():
            if threads <= every:
                yield about | on_the_cpu(arguments, case, str(path), threads)
        for kind, compared in (("vulkan", on_vulkan), ("opencl", on_opencl)):
            if arguments.only in (None, kind) and has_device(arguments, case, kind):
                yield about | compared(arguments, case, str(path), every)


def has_device(arguments, case, kind):
    return case == Case(case.name) and case.name in ON_DEVICES[kind] and not (arguments.isa or arguments.crowded)


def on_the_cpu(arguments, case, path, threads):
    kelvin_limit, openvino_limit = limits(arguments)
    inputs = case.inputs()

    def peer(name, program, *options, **others):
        return Peer(name, f"peer_{program}.py", path, inputs, ("--threads", str(threads), *options), threads, **others)

    reference = peer("ONNX Runtime CPU", "onnxruntime")
    # This peer's vector width cannot be limited.
    peers = [] if arguments.isa else [reference]
    if arguments.crowded:
        peers.append(peer("ONNX Runtime CPU, not spinning", "onnxruntime", "--no-spinning"))
    peers.append(peer("OpenVINO CPU", "openvino", environment=openvino_limit))
    if arguments.crowded:
        peers.append(peer("plain work", "work", competes=False))
    kelvin = Kelvin(arguments.kelvin, path, inputs, "cpu", threads, "full", threads, kelvin_limit)
    title = f"{case.title}, CPU, {threads} thread{'s' if threads > 1 else ''}"
    title += f", {arguments.isa}" if arguments.isa else f", beside {arguments.crowded}" if arguments.crowded else ""
    bar = CROWD_BAR if arguments.crowded else INTEGER_BARS.get(case.name, INTEGER_BAR) if case.isQuantized else CPU_BAR
    # ONNX Runtime computes some layers of quantized models in float32.
    return {"title": title, "kelvin": kelvin, "peers": peers, "bar": bar, "reference": reference,
            **({"limit": STATE_LIMITS.get(case.name)} if case.isQuantized else {}), "hasClasses": case.name not in STATE_LIMITS}


def on_vulkan(arguments, case, path, every):
    """Kelvin must be within limits of the faster of ncnn's two settings."""
    name, prefix = arguments.device or "vulkan:0", str(CACHE / case.name)
    ncnn_model.write(path, prefix)
    which = ("--device", device(arguments.kelvin, name)["name"])
    peers = [Peer(f"ncnn Vulkan, {setting}", "peer_ncnn.py", prefix, case.inputs(), (*which, *options), every)
             for setting, options in (("default", ()), ("full", ("--full",)))]
    comparison = on_a_device(arguments, case, path, name, every)
    return comparison | {"peers": peers, "bar": VULKAN_BAR, "firstBar": FIRST_BARS.get(case.name)}


def on_opencl(arguments, case, path, every):
    comparison = on_a_device(arguments, case, path, arguments.device or "opencl:0", min(2, every))
    return comparison | {"peers": [comparison["reference"]], "bar": OPENCL_BAR}


def on_a_device(arguments, case, path, name, processors):
    """Compares Kelvin on a device, with `processors` for a software driver, and the reference on as many threads."""
    reference = Peer("ONNX Runtime CPU", "peer_onnxruntime.py", path, case.inputs(), ("--threads", str(processors)), processors)
    kelvin = Kelvin(arguments.kelvin, path, case.inputs(), name, processors, None, processors)
    return {"title": f"{case.title}, {name}", "kelvin": kelvin, "reference": reference}


def compared(arguments):
    """One entry for each comparison, in the order in which they are made."""
    for comparison in comparisons(arguments):
        print(f"{comparison['title']} …", file=sys.stderr, flush=True)
        if arguments.tune:
            comparison["kelvin"].tune()
        entry = comparing.compare(comparison, arguments.rounds, arguments.iterations, arguments.seconds, arguments.crowded)
        if arguments.isa:
            entry["kernels"] = isa.openvino_kernels(comparison["peers"][-1], arguments.isa)
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
    parser.add_argument("--only", choices=("cpu", "vulkan", "opencl"))
    parser.add_argument("--models", help=f"of {', '.join(TITLES)}; where nothing is said all in float32, or those of a device")
    parser.add_argument("--device", help="with --only vulkan or opencl: vulkan:1, opencl:1")
    parser.add_argument("--tune", action="store_true", help="have every kernel timed first that nobody has timed yet")
    parser.add_argument("--batch", type=int, default=1, help="items in an inference")
    parser.add_argument("--size", type=int, default=SIZE, help="pixels along an image's side")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--isa", choices=sorted(isa.KELVIN), help="vectors no wider than these; without ONNX Runtime")
    modes.add_argument("--crowded", type=int, nargs="?", const=crowd.COUNT, default=0, metavar="N",
                       help=f"beside N processes that do nothing but compute, {crowd.COUNT} unless given")
    modes.add_argument("--sessions", action="store_true", help="Kelvin's rate with two sessions against one")
    parser.add_argument("--name", default="peers", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    if arguments.device and arguments.device.partition(":")[0] != arguments.only:
        parser.error(f"--device {arguments.device} goes with --only {arguments.device.partition(':')[0]}")
    arguments.models = arguments.models or ",".join(ON_DEVICES.get(arguments.only, FLOAT))
    return arguments


def save(arguments, load, entries):
    machine = report.machine(entries) | {"kelvin": driver(arguments.kelvin, limits(arguments)[0]),
                                         "openblasCoreType": os.environ.get("OPENBLAS_CORETYPE")}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load, "seed": SEED,
              **{key: getattr(arguments, key) for key in ("rounds", "iterations", "seconds", "batch", "size")},
              "comparisons": entries}
    if arguments.sessions:
        report.save(arguments.name, result, sessions.markdown(result))
        return result
    on_cpu = [entry["ratio"]["median"] for entry in entries if ", CPU, " in entry["title"]]
    result["geometricMean"] = math.exp(statistics.fmean(map(math.log, on_cpu))) if on_cpu else None
    if on_cpu:
        bars = [entry["bar"] for entry in entries if ", CPU, " in entry["title"]]
        result["geometricMeanBar"] = NARROW_MEAN_BAR if arguments.isa else min([MEAN_BAR, *bars])
    report.save(arguments.name, result, report.markdown(result))
    return result


def main():
    arguments = parse()
    load = quiet.warn()
    if arguments.isa:
        isa.check_kelvin(arguments.kelvin, arguments.isa)
    entries, result = [], {}
    # Results are saved after each case, so that an interrupted run keeps them.
    for entry in (rates if arguments.sessions else compared)(arguments):
        entries.append(entry)
        result = save(arguments, load, entries)
    if result.get("geometricMean") is not None:
        print(report.mean(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"peers.py: {failure}")
