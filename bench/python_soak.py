"""Ten thousand predictions and a thousand loads from Python: memory stays flat, and eight threads at once agree. README.md says
more.

Usage: python_soak.py [--predictions N] [--loads N] [--threads N] [--name NAME]

The library is the package's own, or what KELVIN_LIBRARY names.
"""

import argparse
import collections
import gc
import os
import statistics
import sys
import threading
import time
import types
from datetime import date

import numpy as np

import quiet
import report
from catalog import ROOT

sys.path.insert(0, str(ROOT / "Python"))
import kelvin  # noqa: E402

DIGITS = ROOT / "Examples/Digits"
# A model of arrays alone, which one call predicts from.
ATTENTION = ROOT / "Tests/Vectors/Transformers/tiny_vit_torchscript.onnx"
SAMPLES = 100
# The share of the run after which memory that is allocated once (caches, malloc arenas) exists.
WARM_UP = 0.2
# The limit by which the samples may rise over a run, in bytes: by their regression line, and from their first tenth to
# their last.
BAR = 1 << 20


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def sampled(title, count, step, stride=1):
    """Runs `step` repeatedly, `stride` operations each, and returns samples of the resident memory."""
    begin, samples = time.perf_counter(), []
    for index in range(count // stride):
        step()
        if (index + 1) % max(1, count // stride // SAMPLES) == 0:
            gc.collect()
            samples.append(((index + 1) * stride, resident()))
    seconds = time.perf_counter() - begin
    warm = [(number, size) for number, size in samples if number > WARM_UP * count]
    slope = float(np.polyfit(*zip(*warm), 1)[0])
    tenth = max(1, len(warm) // 10)
    first, last = (statistics.median(size for _, size in part) for part in (warm[:tenth], warm[-tenth:]))
    return {"title": title, "count": count, "seconds": seconds, "slope": slope,
            "rise": slope * count * (1 - WARM_UP), "firstTenth": first, "lastTenth": last}


def predictions(count):
    """Runs once for each kind of values."""
    random = np.random.default_rng(1)
    network, classifier = (kelvin.Model(DIGITS / name, units="cpu") for name in ("Digits.onnx", "Digits.mlpackage"))
    arrays = [random.random((1, 3, 64, 64), np.float32) for _ in range(16)]
    images = sorted((DIGITS / "images").glob("*.png"))
    target, turn = np.empty((1, 10), np.float32), iter(range(10**9))
    ways = {
        "arrays in and out": lambda: network.predict({"image": arrays[next(turn) % 16]}),
        "the output lent": lambda: network.predict({"image": arrays[next(turn) % 16]}, outputs={"probabilities": target}),
        "arrays that are copied": lambda: network.predict({"image": arrays[next(turn) % 16][:, ::-1]}),
        "images by path, labels out": lambda: classifier.predict({"image": images[next(turn) % len(images)]}),
        "refused": lambda: refused(network)}
    attention, small = kelvin.Model(ATTENTION, units="cpu"), [random.random((1, 3, 20, 20), np.float32) for _ in range(16)]
    held = collections.deque(maxlen=8)
    ways |= {
        "by one call, dropped": lambda: attention.predict({"image": small[next(turn) % 16]}),
        "by one call, the last eight held": lambda: held.append(attention.predict({"image": small[next(turn) % 16]}))}
    if not isinstance(attention._chosen_call(), types.BuiltinFunctionType):
        sys.exit("python_soak.py: the package's part in C is not there; dev/package/calls.sh builds it")
    runs = [sampled(f"predictions, {title}", count, way) for title, way in ways.items()]
    batch = [{"image": array} for array in arrays[:8]]
    return [*runs, sampled("predictions, batches of 8", count, lambda: network.predict(batch), 8)]


def refused(model):
    try:
        model.predict({"image": np.zeros(3, np.float32)})
    except kelvin.FeatureError:
        return
    sys.exit("python_soak.py: three numbers were taken for an image")


def loads(count):
    def closed():
        with kelvin.Model(DIGITS / "Digits.onnx", units="cpu") as model:
            model.predict({"image": np.zeros((1, 3, 64, 64), np.float32)})

    def dropped():
        kelvin.Model(DIGITS / "Digits.mlpackage", units="cpu")
    return [sampled("loads with a prediction each, closed", count, closed), sampled("loads, left to Python", count, dropped)]


def together(count, threads):
    """Runs two models, one of them by one call, from several threads at once; returns the number of results that
    differ from those of one thread."""
    random = np.random.default_rng(2)
    models = [(kelvin.Model(path, units="cpu"), output, [random.random((1, 3, side, side), np.float32) for _ in range(32)])
              for path, output, side in ((DIGITS / "Digits.onnx", "probabilities", 64), (ATTENTION, "logits", 20))]
    cases = [(model, output, {"image": array}, model.predict({"image": array})[output].copy())
             for model, output, arrays in models for array in arrays]
    different, failures = [0] * threads, []

    def work(number, begin, end):
        try:
            for index in range(begin, end):
                model, output, given, expected = cases[(number + 33 * index) % len(cases)]
                different[number] += not np.array_equal(model.predict(given)[output], expected)
        except kelvin.KelvinError as error:
            failures.append(str(error))
    part, place = -(-count // threads // SAMPLES), iter(range(10**9))

    def step():
        begin = next(place) * part
        workers = [threading.Thread(target=work, args=(number, begin, begin + part)) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    run = sampled(f"predictions by {threads} threads at once", part * threads * SAMPLES, step, part * threads)
    return run | {"different": sum(different), "failures": failures}


def verdict(result):
    """Returns "met", or the missed limits."""
    missed = [f"{run['title']}: {max(run['rise'], run['lastTenth'] - run['firstTenth']) / 1e6:.2f} MB more"
              for run in result["runs"] if max(run["rise"], run["lastTenth"] - run["firstTenth"]) > BAR]
    crowd = result["runs"][-1]
    missed += [f"{crowd['different']} results differ"] * bool(crowd["different"]) + crowd["failures"]
    return "; ".join(missed) or "met"


def markdown(result):
    rows = [report.heading(result, "one process, the embedded digit reader on the CPU, and a small "
                           "model of attention by one call"), "",
            "| What | How many | Each | Resident, first tenth | Last tenth | By the line through the samples | for each |",
            "|---|---|---|---|---|---|---|"]
    for run in result["runs"]:
        rows.append(f"| {run['title']} | {run['count']} | {1e3 * run['seconds'] / run['count']:.3f} ms | "
                    f"{run['firstTenth'] / 1e6:.2f} MB | {run['lastTenth'] / 1e6:.2f} MB | {run['rise'] / 1e6:+.3f} MB | "
                    f"{run['slope']:+.1f} B |")
    crowd = result["runs"][-1]
    rows += ["", f"{SAMPLES} samples a run, of which the first {WARM_UP:.0%} count as warming up. {crowd['different']} of the "
             f"threads' results differ from one thread's. Held to at most {BAR / 1e6:.1f} MB more by either measure, and equal "
             f"results: {result['verdict']}."]
    return "\n".join(rows) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Predict and load from Python, often.")
    parser.add_argument("--predictions", type=int, default=10000)
    parser.add_argument("--loads", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--name", default="python-soak", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    load = quiet.warn()
    runs = [*predictions(arguments.predictions), *loads(arguments.loads), together(arguments.predictions, arguments.threads)]
    cpu = next(device for device in kelvin.devices() if device.id == "cpu")
    result = {"date": date.today().isoformat(), "machine": report.machine([]) | {"kelvin": cpu.driver}, "loadAverageBefore": load,
              "runs": runs}
    result["verdict"] = verdict(result)
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
