"""Compares Kelvin's tracker with ByteTrack of PyPI on the same boxes. README.md says more.

Usage: tracking.py [--seeds N] [--first-seed N] [--tool PATH] [--options FILE] [--name NAME]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np

import report
from tracking_sequences import SCENARIOS, Frame, overlaps, sequence

warnings.filterwarnings("ignore")

ROOT = Path(__file__).resolve().parent.parent
# The scores and overlaps of ByteTrack's paper, which are also Kelvin's defaults.
HIGH_SCORE, MATCH, SECONDS_KEPT = 0.5, 0.8, 1.0
DRAWS = 10_000


def build(folder):
    """Compiles TrackBench with the sources of KelvinTracking, without the rest of Kelvin."""
    sources = sorted((ROOT / "Sources" / "KelvinTracking").glob("*.swift"))
    tool = Path(folder) / "TrackBench"
    subprocess.run(["swiftc", "-O", "-swift-version", "6", "-package-name", "kelvin", "-module-name", "TrackBench",
                    *map(str, sources), str(ROOT / "bench" / "TrackBench" / "main.swift"), "-o", str(tool)], check=True)
    return tool


def by_kelvin(tool, options, sequences):
    """Returns, for each sequence and frame, the ids and the detected boxes; the same with estimated boxes; and the seconds
    of all updates."""
    lines = [json.dumps({"time": frame.time, "reset": index == 0,
                         "boxes": [[*box, 0] for box in frame.boxes.tolist()]})
             for frames in sequences for index, frame in enumerate(frames)]
    command = [str(tool), *([str(options)] if options else [])]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = iter(done.stdout.splitlines())
    detected, estimated = [], []
    for frames in sequences:
        detected.append([])
        estimated.append([])
        for frame in frames:
            found = json.loads(next(answers))
            kept = [index for index, answer in enumerate(found) if answer is not None]
            ids = np.array([found[index][0] for index in kept], dtype=int)
            detected[-1].append((ids, frame.boxes[kept, :4]))
            estimated[-1].append((ids, np.array([found[index][1:] for index in kept]).reshape(-1, 4)))
    return detected, estimated, float(done.stderr)


def corners(boxes):
    return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:4]], axis=1)


def by_supervision(frames, rate, own_boxes):
    """ByteTrack of `supervision`: with the boxes that it estimates, or with ids for the detected boxes."""
    import supervision
    tracker = supervision.ByteTrack(track_activation_threshold=HIGH_SCORE, minimum_matching_threshold=MATCH,
                                    lost_track_buffer=round(30 * SECONDS_KEPT), frame_rate=round(rate))
    tracked = []
    for frame in frames:
        found = corners(frame.boxes)
        if own_boxes:
            tracks = tracker.update_with_tensors(np.column_stack([found, frame.boxes[:, 4]]))
            ids = np.array([track.external_track_id for track in tracks], dtype=int)
            boxes = np.array([track.tlwh for track in tracks]).reshape(-1, 4)
        else:
            answer = tracker.update_with_detections(
                supervision.Detections(xyxy=found, confidence=frame.boxes[:, 4], class_id=np.zeros(len(found), int)))
            ids = answer.tracker_id.astype(int)
            boxes = np.concatenate([answer.xyxy[:, :2], answer.xyxy[:, 2:] - answer.xyxy[:, :2]], axis=1)
        tracked.append((ids, boxes))
    return tracked


def by_cjm(frames, rate):
    """ByteTrack of `cjm-byte-track`, which follows the authors' code, with the boxes that it estimates."""
    from cjm_byte_track.core import BYTETracker
    tracker = BYTETracker(track_thresh=HIGH_SCORE, track_buffer=round(30 * SECONDS_KEPT), match_thresh=MATCH, frame_rate=rate)
    tracked = []
    for frame in frames:
        tracks = tracker.update(np.column_stack([corners(frame.boxes), frame.boxes[:, 4]]), (1, 1), (1, 1))
        tracked.append((np.array([track.track_id for track in tracks], dtype=int),
                        np.array([track.tlwh for track in tracks]).reshape(-1, 4)))
    return tracked


def hota(frames, tracked):
    """Returns HOTA by TrackEval: the mean over its 19 thresholds of overlap."""
    from trackeval.metrics.hota import HOTA
    places = {}
    numbered = [np.array([places.setdefault(number, len(places)) for number in ids.tolist()], dtype=int)
                for ids, _ in tracked]
    people = {number: place for place, number in enumerate(sorted({n for f in frames for n in f.ids.tolist()}))}
    data = {
        "num_timesteps": len(frames), "num_gt_ids": len(people), "num_tracker_ids": len(places),
        "num_gt_dets": sum(len(frame.ids) for frame in frames), "num_tracker_dets": sum(len(ids) for ids in numbered),
        "gt_ids": [np.array([people[n] for n in frame.ids.tolist()], dtype=int) for frame in frames],
        "tracker_ids": numbered,
        "similarity_scores": [overlaps(frame.truth, boxes) for frame, (_, boxes) in zip(frames, tracked)],
    }
    return float(np.mean(HOTA().eval_sequence(data)["HOTA"]))


def idf1(frames, tracked):
    """Returns IDF1 by motmetrics, at an overlap of at least 0.5, and the number of id switches."""
    import motmetrics
    account = motmetrics.MOTAccumulator(auto_id=True)
    for frame, (ids, boxes) in zip(frames, tracked):
        distance = 1 - overlaps(frame.truth, boxes)
        distance[distance > 0.5] = np.nan
        account.update(frame.ids.tolist(), ids.tolist(), distance)
    summary = motmetrics.metrics.create().compute(account, metrics=["idf1", "num_switches"], name="x")
    return float(summary["idf1"].iloc[0]), int(summary["num_switches"].iloc[0])


def check_measures():
    """Compares both packages with cases computed by hand; the boxes are exact, so no threshold matters."""
    class Case:
        def __init__(self, ids, truth):
            self.ids, self.truth = np.array(ids, dtype=int), np.array(truth, dtype=float).reshape(-1, 4)
    here, there = [0, 0, 10, 20], [500, 500, 10, 20]

    def answer(*pairs):
        return np.array([n for n, _ in pairs], dtype=int), np.array([b for _, b in pairs], dtype=float).reshape(-1, 4)
    # One person in four frames; the id changes in the middle. Each of the 4 matches is associated with 2 of 4 boxes:
    # HOTA = √(1 · 2/4). IDF1 = 2 · 2 / (4 + 4).
    changed = [answer((1, here)), answer((1, here)), answer((2, here)), answer((2, here))]
    # One frame is missed, and one box is false: detection 3 of 5, association 3 of 4. IDF1 = 2 · 3 / (4 + 4).
    missed = [answer((1, here)), answer((1, here), (2, there)), answer((1, here)), answer()]
    for tracked, right in ((changed, (0.5 ** 0.5, 0.5)), (missed, ((3 / 5 * 3 / 4) ** 0.5, 0.75))):
        frames = [Case([7], [here])] * 4
        found = hota(frames, tracked), idf1(frames, tracked)[0]
        if not np.allclose(found, right):
            sys.exit(f"tracking.py: HOTA and IDF1 are {found}; by hand {right}")


def interval(differences):
    """Returns the 95 % interval of the mean, by the percentile bootstrap over sequences."""
    values = np.array(differences)
    random = np.random.default_rng(1)
    means = values[random.integers(0, len(values), (DRAWS, len(values)))].mean(axis=1)
    return [float(edge) for edge in np.quantile(means, [0.025, 0.975])]


def silent(call, *arguments):
    """Calls a function of a package that prints."""
    with open(os.devnull, "w") as nowhere:
        before, sys.stdout = sys.stdout, nowhere
        try:
            return call(*arguments)
        finally:
            sys.stdout = before


def crowd(count=300, frames=300):
    """Returns a sequence for the time of an update: boxes that move slowly and overlap much."""
    random = np.random.default_rng(2)
    places, speeds = random.uniform([0, 0], [1280, 720], (count, 2)), random.normal(0, 2, (count, 2))
    return [Frame(index / 30, np.arange(0), np.zeros((0, 4)),
                  np.column_stack([places + index * speeds + random.normal(0, 2, (count, 2)),
                                   np.tile([40, 80], (count, 1)), random.uniform(0.2, 1, count)]))
            for index in range(frames)]


def measure(arguments, tool):
    names = [(name, seed) for name in SCENARIOS
             for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds)]
    sequences = [sequence(*name) for name in names]
    rates = [SCENARIOS[name].rate for name, _ in names]
    detected, estimated, seconds = by_kelvin(tool, arguments.options, sequences)
    contenders = {"Kelvin": estimated, "Kelvin, detected boxes": detected}
    if not arguments.alone:
        contenders |= {
            "supervision": [by_supervision(*case, True) for case in zip(sequences, rates)],
            "supervision, detected boxes": [by_supervision(*case, False) for case in zip(sequences, rates)],
            "cjm-byte-track": [by_cjm(*case) for case in zip(sequences, rates)],
        }
    entries = []
    for contender, answers in contenders.items():
        for (name, seed), frames, answer in zip(names, sequences, answers):
            identity, switches = idf1(frames, answer)
            entries.append({"contender": contender, "scenario": name, "seed": seed, "idf1": identity,
                            "hota": silent(hota, frames, answer), "switches": switches})
    count, crowded = sum(map(len, sequences)), crowd()
    return entries, {"crowdMicrosecondsPerFrame": 1e6 * by_kelvin(tool, arguments.options, [crowded])[2] / len(crowded),
                     "frames": count, "boxes": sum(len(f.boxes) for s in sequences for f in s),
                     "microsecondsPerFrame": 1e6 * seconds / count}


def condense(entries):
    """Returns the means of each contender and scenario, and Kelvin's lead over the best other one of each measure."""
    contenders = list(dict.fromkeys(entry["contender"] for entry in entries))

    def values(contender, measure, scenario=None):
        return [entry[measure] for entry in entries
                if entry["contender"] == contender and scenario in (None, entry["scenario"])]
    rows = []
    for scenario in [None, *SCENARIOS]:
        row = {"scenario": scenario or "all"}
        for measure in ("idf1", "hota"):
            means = {name: float(np.mean(values(name, measure, scenario))) for name in contenders}
            row[measure] = means
            others = [name for name in contenders if not name.startswith("Kelvin")]
            if others:
                best = max(others, key=means.get)
                lead = np.subtract(values("Kelvin", measure, scenario), values(best, measure, scenario))
                row[f"{measure}Lead"] = {"over": best, "mean": float(lead.mean()), "interval": interval(lead)}
        row["switches"] = {name: int(sum(values(name, "switches", scenario))) for name in contenders}
        rows.append(row)
    return rows


def markdown(result):
    about = result["machine"]
    contenders = list(result["rows"][0]["idf1"])
    packages = ", ".join(f"{name} {number}" for name, number in result["packages"].items())
    lines = [f"Measured {result['date']} on {about['processors']} processors of {about['processor']}; {packages}; "
             f"{result['seeds']} sequences of each scenario, {result['frames']:,} frames with {result['boxes']:,} boxes.", "",
             f"Kelvin's tracker takes {result['microsecondsPerFrame']:.0f} µs for a frame, and "
             f"{result['crowdMicrosecondsPerFrame'] / 1000:.2f} ms for one with 300 boxes. The lead is over the better of the "
             "others, with the 95 % bootstrap interval over sequences, in percentage points.", ""]
    for measure, title in (("idf1", "IDF1"), ("hota", "HOTA")):
        lines += [f"| {title} | " + " | ".join(contenders) + " | Kelvin's lead |",
                  "|---|" + "--:|" * (len(contenders) + 1)]
        for row in result["rows"]:
            means = " | ".join(f"{100 * row[measure][name]:.1f}" for name in contenders)
            lead = row.get(f"{measure}Lead")
            edges = f"{100 * lead['mean']:+.1f} ({100 * lead['interval'][0]:+.1f} to {100 * lead['interval'][1]:+.1f})" if lead else ""
            lines.append(f"| {row['scenario']} | {means} | {edges} |")
        lines.append("")
    lines += ["| Id switches | " + " | ".join(contenders) + " |", "|---|" + "--:|" * len(contenders)]
    lines += [f"| {row['scenario']} | " + " | ".join(f"{row['switches'][name]:,}" for name in contenders) + " |"
              for row in result["rows"]]
    lines += ["", "To repeat the measurement: `bench/.venv-tracking/bin/python bench/tracking.py`."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Compare trackers on generated boxes with known ids.")
    parser.add_argument("--seeds", type=int, default=10, help="the number of sequences of each scenario")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--tool", help="a TrackBench that exists; without it, the script compiles one")
    parser.add_argument("--options", help="a JSON file with TrackerOptions")
    parser.add_argument("--alone", action="store_true", help="Kelvin's tracker only")
    parser.add_argument("--name", default="tracking", help="results/NAME.json and results/NAME.md are written; '' for none")
    arguments = parser.parse_args()
    silent(check_measures)
    with tempfile.TemporaryDirectory() as folder:
        entries, counts = measure(arguments, arguments.tool or build(folder))
    packages = ["motmetrics", "trackeval"] + ([] if arguments.alone else ["supervision", "cjm-byte-track"])
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "seeds": arguments.seeds,
              "firstSeed": arguments.first_seed, "packages": {name: version(name) for name in packages},
              **counts, "rows": condense(entries), "sequences": entries}
    if arguments.name:
        report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
