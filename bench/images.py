"""Times one 1080p frame converted to a model's 224 x 224 tensor on one core: Kelvin, Pillow, OpenCV. README.md says
more.

Usage: images.py [--tool PATH] [--rounds N] [--iterations N] [--name NAME]
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date

import cv2
import numpy as np
import PIL
from PIL import Image

import report

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT, SIDE = 1920, 1080, 224
MEAN, DEVIATION = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
BAR = 0.002
SEED = 1


def frame():
    """A smooth image with noise, so that neither interpolation nor rounding is trivial."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    smooth = np.stack([127 + 120 * np.sin(x / 90), 127 + 120 * np.cos(y / 70), 127 + 120 * np.sin((x + y) / 110)], axis=-1)
    noise = np.random.default_rng(SEED).normal(0, 6, smooth.shape)
    return (smooth + noise).clip(0, 255).astype(np.uint8)


def cropped(image, rule):
    """The square in the middle for center-crop, as users of the peers cut it."""
    start = (WIDTH - HEIGHT) // 2
    return image[:, start : start + HEIGHT] if rule == "center-crop" else image


def normalized(pixels):
    tensor = (pixels.astype(np.float32) * (1 / 255) - MEAN) / DEVIATION
    return np.ascontiguousarray(tensor.transpose(2, 0, 1))


def with_opencv(image, rule):
    return normalized(cv2.resize(cropped(image, rule), (SIDE, SIDE), interpolation=cv2.INTER_LINEAR))


def with_pillow(image, rule):
    source = Image.fromarray(cropped(image, rule))
    return normalized(np.asarray(source.resize((SIDE, SIDE), Image.Resampling.BILINEAR)))


def reference(image, rule):
    """Resizes with OpenCV, at the whole pixels to which Core ML's geometry rounds the drawn image."""
    drawn = round(WIDTH * SIDE / HEIGHT) if rule == "center-crop" else SIDE
    start = (drawn - SIDE) // 2
    whole = cv2.resize(image, (drawn, SIDE), interpolation=cv2.INTER_LINEAR)
    return normalized(whole[:, start : start + SIDE])


def timed(function, image, rule, iterations):
    """(median seconds, the tensor)"""
    seconds = []
    for _ in range(iterations):
        begin = time.perf_counter()
        tensor = function(image, rule)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds), tensor


def kelvin(tool, path, rule, iterations, folder):
    output = os.path.join(folder, "tensor.f32")
    command = [tool, "fuse", path, str(WIDTH), str(HEIGHT), "3", str(SIDE), rule, str(iterations), output]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    tensor = np.fromfile(output, np.float32).reshape(3, SIDE, SIDE)
    return statistics.median(map(float, done.stdout.split())), tensor


def measure(arguments, image, path, folder, rule):
    contenders = {
        "Kelvin": lambda: kelvin(arguments.tool, path, rule, arguments.iterations, folder),
        f"OpenCV {cv2.__version__}": lambda: timed(with_opencv, image, rule, arguments.iterations),
        f"Pillow {PIL.__version__}": lambda: timed(with_pillow, image, rule, arguments.iterations),
    }
    seconds = {name: [] for name in contenders}
    tensors = {}
    for index in range(arguments.rounds):
        for name in sorted(contenders, reverse=index % 2 == 1):
            median, tensors[name] = contenders[name]()
            seconds[name].append(median)
    levels = (255 * DEVIATION).reshape(3, 1, 1)
    ours = seconds["Kelvin"]
    rows = []
    for name, rounds in seconds.items():
        ratios = [a / b for a, b in zip(ours, rounds)]
        difference = np.abs(tensors["Kelvin"] - tensors[name]) * levels
        rows.append({"name": name, "p50": statistics.median(rounds), "rounds": rounds,
                     "kelvinRatio": {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)},
                     "differenceFromKelvin": {"mean": float(difference.mean()), "max": float(difference.max())}})
    worst = float((np.abs(tensors["Kelvin"] - reference(image, rule)) * levels).max())
    met = rows[0]["p50"] < BAR and worst <= 1.01
    return {"rule": rule, "contenders": rows, "differenceFromReference": worst, "verdict": "met" if met else "missed"}


def markdown(result):
    about = result["machine"]
    lines = [
        f"One {WIDTH}x{HEIGHT} RGB frame to a normalised float32 tensor 3x{SIDE}x{SIDE}, one core of {about['processor']}, measured "
        f"{result['date']}; {result['rounds']} rounds of {result['iterations']}, interleaved; load average before: "
        f"{result['loadAverageBefore']:.2f}. Held to: Kelvin under {1000 * BAR:.0f} ms and within one level of OpenCV's linear "
        "interpolation at the same geometry. The peers cut the square first, which moves samples by up to half a pixel, and Pillow "
        "filters when it shrinks, so their own values differ.", "",
        "| Rule | Contender | Median | Kelvin / it, median (min to max) | Difference from Kelvin in levels, mean (max) | Held to |",
        "|---|---|---|---|---|---|"]
    for entry in result["comparisons"]:
        demand = f"{entry['verdict']}; {entry['differenceFromReference']:.2f} levels from the reference"
        for row in entry["contenders"]:
            ratio, difference = row["kelvinRatio"], row["differenceFromKelvin"]
            own = row["name"] == "Kelvin"
            lines.append(
                f"| {entry['rule']} | {row['name']} | {report.milliseconds(row['p50'])} | "
                + ("– | – |" if own else f"{ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f}) | "
                   f"{difference['mean']:.2f} ({difference['max']:.0f}) |") + f" {demand if own else '–'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Time the way from a frame to a tensor.")
    parser.add_argument("--tool", default=str(HERE.parent / ".build" / "release" / "ImageBench"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--name", default="images", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    if load > 0.3:
        print(f"warning: load average {load:.2f} before the start; results will be noisy", file=sys.stderr)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    cv2.setNumThreads(1)
    image = frame()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frame.rgb")
        image.tofile(path)
        entries = [measure(arguments, image, path, folder, rule) for rule in ("center-crop", "scale-fill")]
    result = {"date": date.today().isoformat(), "machine": {"processor": report.machine([])["processor"]},
              "loadAverageBefore": load, "rounds": arguments.rounds, "iterations": arguments.iterations, "seed": SEED,
              "bar": BAR, "comparisons": entries}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
