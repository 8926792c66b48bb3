"""Images through Ray Data on two workers, one of which is killed in the middle: no row is lost or repeated, and each
result equals that of one process. README.md says more.

Usage: ray_workers.py [--images N] [--batch N] [--workers N] [--name NAME]
"""

import argparse
import io
import os
import signal
import sys
import time
from datetime import date

import numpy as np
from PIL import Image

import quiet
import report
from catalog import CACHE, ROOT, shared

sys.path.insert(0, str(ROOT / "Python"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "Python"), *filter(None, [os.environ.get("PYTHONPATH")])])
import kelvin  # noqa: E402
from kelvin.ray import Predictor  # noqa: E402

SEED = 1
# One of this many files is truncated.
BROKEN = 500
# The worker that answered last is killed after this share of the rows.
KILLED_AFTER = 0.4
OUTPUTS = ("classLabel", "classLabel_probs")


class Telling(Predictor):
    """Adds the process that answered, in a column `process`."""

    def __call__(self, batch):
        answer = super().__call__(batch)
        return answer | {"process": np.full(len(answer["error"]), os.getpid())}


def images(count):
    """Paths of seeded JPEGs: crops of photos, each another; some end early."""
    folder = CACHE / "images" / str(count)
    paths = [folder / f"{number:05}.jpg" for number in range(count)]
    if not paths[-1].exists():
        photos = [Image.open(path).convert("RGB") for path in sorted((shared().parent / "images" / "photos").glob("*.jpg"))]
        if not photos:
            sys.exit(f"ray_workers.py: no photos under {shared().parent / 'images' / 'photos'}; name the folder in KELVIN_SHARED")
        folder.mkdir(parents=True, exist_ok=True)
        random = np.random.default_rng(SEED)
        for number, path in enumerate(paths):
            file = io.BytesIO()
            crop(photos[random.integers(len(photos))], random).save(file, "jpeg", quality=85)
            contents = file.getvalue()
            path.write_bytes(contents[: len(contents) // 50] if number % BROKEN == BROKEN - 1 else contents)
    return [str(path) for path in paths]


def crop(photo, random):
    """A random part of a photo, 320 by 240."""
    part = random.uniform(0.3, 1) * min(photo.width / 320, photo.height / 240)
    width, height = int(320 * part), int(240 * part)
    left, top = random.integers(photo.width - width + 1), random.integers(photo.height - height + 1)
    return photo.resize((320, 240), box=(left, top, left + width, top + height))


def options(threads=1):
    return dict(model=str(shared() / "MobileNetV2_f16.mlpackage"), units="cpu", threads=threads, inputs={"image": "path"},
                keep=["key"])


def alone(paths, batch, threads):
    """Returns the answers of one process, by row, and the seconds without its start."""
    predictor = Telling(**options(threads))
    predictor({"key": np.arange(1), "path": np.array(paths[:1])})
    begin, rows = time.perf_counter(), {}
    for start in range(0, len(paths), batch):
        part = np.array(paths[start:start + batch])
        collect(rows, predictor({"key": np.arange(start, start + len(part)), "path": part}))
    return {"rows": rows, "seconds": time.perf_counter() - begin}


def together(paths, batch, workers, is_one_killed):
    """Returns the same from Ray, and the processes that answered."""
    import ray

    data = ray.data.from_items([{"key": key, "path": path} for key, path in enumerate(paths)])
    pool = ray.data.ActorPoolStrategy(size=workers)
    answers = data.map_batches(Telling, fn_constructor_kwargs=options(), compute=pool, num_cpus=1, batch_size=batch)
    rows, killed, doubled, first, begin = {}, None, 0, None, time.perf_counter()
    for answer in answers.iter_batches(batch_size=None):
        first = first or time.perf_counter()
        before = len(rows)
        collect(rows, answer)
        doubled += before + len(answer["key"]) - len(rows)
        if is_one_killed and killed is None and len(rows) >= KILLED_AFTER * len(paths):
            killed = int(answer["process"][-1])
            os.kill(killed, signal.SIGKILL)
            print(f"killed worker {killed} after {len(rows)} rows", file=sys.stderr, flush=True)
    return {"rows": rows, "seconds": time.perf_counter() - begin, "start": first - begin, "doubled": doubled, "killed": killed}


def collect(rows, answer):
    for place, key in enumerate(answer["key"]):
        rows[int(key)] = {name: answer[name][place] for name in (*OUTPUTS, "error", "process")}


def judged(title, run, reference, count):
    """The run's figures, and how it differs from the reference."""
    rows = run["rows"]
    return {
        "title": title, "seconds": run["seconds"], "start": run.get("start"),
        "processes": len({row["process"] for row in rows.values()}), "isOneKilled": run.get("killed") is not None,
        "lost": count - len(rows), "doubled": run.get("doubled", 0),
        "different": sum(not equal(row, reference[key]) for key, row in rows.items()),
        "refused": sum(row["error"] != "" for row in rows.values())}


def equal(one, other):
    return (one["classLabel"], one["error"]) == (other["classLabel"], other["error"]) and np.array_equal(
        one["classLabel_probs"], other["classLabel_probs"], equal_nan=True)


def verdict(result):
    """Returns "met", or the missed limits."""
    missed = []
    for run in result["runs"]:
        missed += [f"{run['title']}: {run[key]} {key}" for key in ("lost", "doubled", "different") if run[key]]
        if run["refused"] != result["broken"]:
            missed.append(f"{run['title']}: {run['refused']} refused, {result['broken']} broken")
    killed = result["runs"][-1]
    if not killed["isOneKilled"] or killed["processes"] <= result["workers"]:
        missed.append("no worker was killed and replaced")
    return "; ".join(missed) or "met"


def markdown(result):
    about = (f"{result['images']} images of 320x240 as JPEG files, of which {result['broken']} end early; MobileNetV2 in "
             f"float16, 1 thread a process unless said, batches of {result['batch']}; Ray {result['ray']}")
    rows = [report.heading(result, about), "",
            "| Run | Whole | Rows a second, once begun | First rows after | Processes that answered | Rows lost | Twice | "
            "Other than one process's | Refused |", "|---|---|---|---|---|---|---|---|---|"]
    for run in result["runs"]:
        rate = result["images"] / (run["seconds"] - (run["start"] or 0))
        start = "–" if run["start"] is None else f"{run['start']:.1f} s"
        rows.append(f"| {run['title']} | {run['seconds']:.1f} s | {rate:.0f} | {start} | {run['processes']} | {run['lost']} | "
                    f"{run['doubled']} | {run['different']} | {run['refused']} |")
    rows += ["", "Results are equal where label, all probabilities and the error are, to the last bit. Held to nothing lost, "
             "twice or other, each broken image a row with an error, and a worker that took the killed one's place: "
             f"{result['verdict']}."]
    return "\n".join(rows) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Predict by Ray Data with one worker killed.")
    parser.add_argument("--images", type=int, default=10000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--name", default="ray", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    import ray

    arguments = parse()
    load = quiet.warn()
    paths = images(arguments.images)
    one = alone(paths, arguments.batch, 1)
    runs = [judged("one process, without Ray", one, one["rows"], len(paths))]
    wide = alone(paths, arguments.batch, arguments.workers)
    runs.append(judged(f"one process, without Ray, {arguments.workers} threads", wide, one["rows"], len(paths)))
    ray.init(num_cpus=arguments.workers, include_dashboard=False, log_to_driver=False)
    try:
        for is_one_killed, title in ((False, "workers"), (True, "workers, one killed")):
            run = together(paths, arguments.batch, arguments.workers, is_one_killed)
            runs.append(judged(f"{arguments.workers} {title}", run, one["rows"], len(paths)))
    finally:
        ray.shutdown()
    cpu = next(device for device in kelvin.devices() if device.id == "cpu")
    result = {"date": date.today().isoformat(), "machine": report.machine([]) | {"kelvin": cpu.driver}, "loadAverageBefore": load,
              "ray": ray.__version__, "images": len(paths), "broken": len(paths) // BROKEN, "batch": arguments.batch,
              "workers": arguments.workers, "runs": runs}
    result["verdict"] = verdict(result)
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
