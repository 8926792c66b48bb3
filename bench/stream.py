#!/usr/bin/env python3
"""Compares `kelvin stream` on a video file with a loop of OpenCV and ONNX Runtime that does the same work, and with the decoder and
the model alone. Also runs a live stream for some minutes, and a long file, whose memory is watched.

Usage: stream.py [--kelvin PATH] [--clip MP4] [--frames N] [--rounds N] [--minutes N] [--long N] [--name NAME]; in an environment
with onnxruntime, opencv-python-headless and numpy. README.md says more.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date

import models
import quiet
import report
from catalog import CACHE, ROOT

SHARED = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT.parent / "shared"))
MODEL = SHARED / "models" / "MobileNetV2_f32.onnx"

# The loop of a user: decode, cut the center, scale, normalize, predict, and name the best class of each frame.
PEER = """
import sys, time
import cv2, numpy, onnxruntime
model, clip, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = threads
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name
mean = numpy.array([0.485, 0.456, 0.406], numpy.float32)
deviation = numpy.array([0.229, 0.224, 0.225], numpy.float32)
video = cv2.VideoCapture(clip)
best, began = [], None
while True:
    read, frame = video.read()
    if not read:
        break
    high, wide = frame.shape[:2]
    side = min(high, wide)
    top, left = (high - side) // 2, (wide - side) // 2
    square = cv2.resize(frame[top:top + side, left:left + side], (224, 224), interpolation=cv2.INTER_LINEAR)
    pixels = (cv2.cvtColor(square, cv2.COLOR_BGR2RGB).astype(numpy.float32) / 255 - mean) / deviation
    scores = session.run(None, {name: pixels.transpose(2, 0, 1)[None]})[0]
    best.append(int(scores.argmax()))
    began = began or time.perf_counter()
print("RATE", (len(best) - 1) / (time.perf_counter() - began))
print("BEST", *best)
"""

# The least that a decoder in a process of its own costs: its frames are read from a pipe and thrown away.
READER = """
import fcntl, os, subprocess, sys
decoder = subprocess.Popen(["ffmpeg", "-v", "error", "-i", sys.argv[1], "-pix_fmt", "nv12", "-f", "rawvideo", "pipe:1"], stdout=subprocess.PIPE)
fcntl.fcntl(decoder.stdout, fcntl.F_SETPIPE_SZ, 1 << 20)
frame = bytearray(1 << 22)
while os.readv(decoder.stdout.fileno(), [frame]):
    pass
sys.exit(decoder.wait())
"""


def run(command, **options):
    """Standard output of a program, its seconds and its processor seconds with those of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def enlarged(clip, frames, folder):
    """The clip in 1920 x 1080 with the first frames only."""
    target = pathlib.Path(folder) / "clip.mp4"
    run(["ffmpeg", "-v", "error", "-i", clip, "-frames:v", frames, "-vf", "scale=1920:1080:flags=bicubic", "-c:v", "libx264",
         "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-an", target])
    return target


class Contenders:
    def __init__(self, kelvin, clip, frames, threads):
        self.kelvin, self.clip, self.frames, self.threads = kelvin, clip, frames, threads
        self.best = {}

    def stream(self):
        output, _, used = run([self.kelvin, "stream", MODEL, self.clip, "--normalization", "imagenet", "--units", "cpu", "--json"])
        return json.loads(output)["sources"][0]["framesPerSecond"], used

    def peer(self):
        output, _, used = run([sys.executable, "-c", PEER, MODEL, self.clip, self.threads])
        lines = dict(line.split(" ", 1) for line in output.decode().splitlines())
        self.best["peer"] = [int(text) for text in lines["BEST"].split()]
        return float(lines["RATE"]), used

    def decoder(self):
        _, seconds, used = run(["ffmpeg", "-v", "error", "-i", self.clip, "-pix_fmt", "nv12", "-f", "rawvideo", "-y", "/dev/null"])
        return self.frames / seconds, used

    def pipe(self):
        _, seconds, used = run([sys.executable, "-c", READER, self.clip])
        return self.frames / seconds, used

    def model(self):
        """Inferences one after the other; all threads are busy during one."""
        output, _, _ = run([self.kelvin, "bench", MODEL, "--units", "cpu", "--threads", self.threads, "--iterations", 240, "--rounds", 2,
                            "--warm-seconds", 0, "--no-agreement", "--json"])
        median = json.loads(output)["configurations"][0]["p50"]
        return 1 / median, self.threads * median


def repeated(clip, count, stretch, target):
    """The clip so many times in one file, without coding it again; each frame takes `stretch` times its time."""
    run(["ffmpeg", "-v", "error", "-itsscale", stretch, "-stream_loop", count - 1, "-i", clip, "-an", "-c", "copy", target])
    return target


def facts(clip):
    output, _, _ = run(["ffprobe", "-v", "error", "-count_packets", "-select_streams", "v", "-show_entries",
                        "stream=nb_read_packets,r_frame_rate", "-of", "json", clip])
    stream = json.loads(output)["streams"][0]
    top, bottom = map(int, stream["r_frame_rate"].split("/"))
    return int(stream["nb_read_packets"]), top / bottom


def watched(command):
    """Standard output of a program, and its resident memory in MiB every half second."""
    memory = []
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                lines = dict(line.split(":", 1) for line in status)
            if "VmRSS" in lines:
                memory.append(int(lines["VmRSS"].split()[0]) / 1024)
            time.sleep(0.5)
        if process.returncode:
            sys.exit(f"stream.py: status {process.returncode} of {command}")
        output.seek(0)
        return output.read().decode(), memory


def growth(memory):
    """Medians of the second and the last tenth of the samples, in MiB."""
    tenth = max(len(memory) // 10, 1)
    return statistics.median(memory[tenth:2 * tenth]), statistics.median(memory[-tenth:])


def live(kelvin, clip, minutes, folder):
    """A file at its own pace with a model that takes 1.5 frames: the age of each answer in frames. ResNet-50 gives a camera's pace; a
    frame of MobileNetV2 would take little more time than to decode it."""
    count, rate = facts(clip)
    command = [kelvin, "stream", models.build(CACHE, "resnet50"), "--normalization", "imagenet", "--units", "cpu"]
    output, _, _ = run(command + [clip, "--frames-at-once", 1, "--frames", 300, "--json"])
    service = 1 / json.loads(output)["sources"][0]["framesPerSecond"]
    wanted = 1.5 / service
    loops = int(minutes * 60 * wanted / count) + 1
    paced = repeated(clip, loops, rate / wanted, pathlib.Path(folder) / "live.mp4")
    output, memory = watched(command + [paced, "--live", "--format", "jsonl"])
    ages = sorted(json.loads(line)["latency"] * wanted for line in output.splitlines())
    early, late = growth(memory)
    return {"minutes": loops * count / wanted / 60, "framesPerSecond": wanted, "service": service, "arrived": loops * count,
            "answered": len(ages), "medianAge": statistics.median(ages), "p99Age": ages[int(0.99 * (len(ages) - 1))],
            "oldestAge": ages[-1], "over3": sum(age >= 3 for age in ages), "memory": [early, late]}


def long(kelvin, clip, frames, folder):
    """The memory of a long file, with a small model."""
    count, _ = facts(clip)
    file = repeated(clip, -(-frames // count), 1, pathlib.Path(folder) / "long.mp4")
    model = ROOT / "Examples" / "Digits" / "Digits.mlpackage"
    output, memory = watched([kelvin, "stream", model, file, "--units", "cpu", "--json"])
    early, late = growth(memory)
    source = json.loads(output)["sources"][0]
    return {"frames": source["answered"], "framesPerSecond": source["framesPerSecond"], "memory": [early, late],
            "largest": max(memory)}


def agreement(contenders):
    """The share of frames with the same best class."""
    output, _, _ = run([contenders.kelvin, "stream", MODEL, contenders.clip, "--normalization", "imagenet", "--units", "cpu",
                        "--format", "jsonl", "--top", 1])
    ours = [int(json.loads(line)["observations"][0]["identifier"]) for line in output.decode().splitlines()]
    theirs = contenders.best["peer"]
    return len(ours), sum(a == b for a, b in zip(ours, theirs)) / max(len(theirs), 1)


def text(result):
    rate = {name: statistics.median(pair[0] for pair in values) for name, values in result["rounds"].items()}
    lines = ["# Video", "", report.heading(result, f"{result['roundCount']} interleaved rounds"), ""]
    lines += [f"MobileNetV2 (float32, 224 x 224) on {result['frames']} frames of 1920 x 1080, offline: every frame is decoded, cropped, scaled,",
              f"predicted. {100 * result['agreement']:.1f} % of the frames have the same best class in both programs.", "",
              "| program | frames per second | processor time per frame, ms |", "|---|--:|--:|"]
    names = {"stream": "`kelvin stream`", "peer": "OpenCV and ONNX Runtime", "decoder": "the decoder alone",
             "pipe": "the decoder into a pipe, nothing else", "model": "the model alone"}
    for name, title in names.items():
        values = result["rounds"][name]
        used = statistics.median(pair[1] for pair in values) / (1 if name == "model" else result["frames"])
        lines.append(f"| {title} | {rate[name]:.1f} ({min(v[0] for v in values):.1f} to {max(v[0] for v in values):.1f}) | {1000 * used:.1f} |")
    lines += ["", f"`kelvin stream` has {result['peerRatio']:.2f} × the rate of the loop, and {result['slowerRatio']:.2f} × that of the slower of decoder and "
              f"model. Its processor time is {100 * result['overhead']:.1f} % more than that of decoder and model together; starting and "
              f"loading are included. Whole frames through a pipe, read and thrown away, already take {100 * result['pipeOverhead']:.1f} % more."]
    if run := result.get("live"):
        lines += ["", "## Live", "",
                  f"{run['minutes']:.1f} minutes with `--live` at {run['framesPerSecond']:.1f} frames per second, with ResNet-50, which takes "
                  f"{1000 * run['service']:.1f} ms a frame, or 1.5 frames. {run['answered']} of {run['arrived']} frames were answered. The age of an answer was "
                  f"{run['medianAge']:.2f} frames in the median, {run['p99Age']:.2f} at p99 and {run['oldestAge']:.2f} at most; {run['over3']} answers "
                  f"were older than 3 frames. Resident memory: {run['memory'][0]:.0f} MiB early, {run['memory'][1]:.0f} MiB at the end."]
    if run := result.get("long"):
        lines += ["", "## Long", "",
                  f"{run['frames']} frames of a file with a small model, {run['framesPerSecond']:.0f} frames per second. Resident memory: "
                  f"{run['memory'][0]:.1f} MiB in the second tenth of the run, {run['memory'][1]:.1f} MiB in the last, {run['largest']:.1f} MiB at most."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kelvin", default=ROOT / ".build/release/kelvin")
    parser.add_argument("--clip", default=SHARED / "video" / "bottle-detection.mp4")
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=10, help="of the live stream")
    parser.add_argument("--long", type=int, default=100_000, help="frames of the long file")
    parser.add_argument("--name", default="stream")
    options = parser.parse_args()
    load = quiet.warn()
    with tempfile.TemporaryDirectory() as folder:
        contenders = Contenders(options.kelvin, enlarged(options.clip, options.frames, folder), options.frames, os.cpu_count())
        rounds = {name: [] for name in ("stream", "peer", "decoder", "pipe", "model")}
        for index in range(options.rounds):
            for name in rounds if index % 2 == 0 else reversed(list(rounds)):
                rounds[name].append(getattr(contenders, name)())
        count, same = agreement(contenders)
        parts = {}
        if options.minutes > 0:
            parts["live"] = live(options.kelvin, options.clip, options.minutes, folder)
        if options.long > 0:
            parts["long"] = long(options.kelvin, options.clip, options.long, folder)
    if count != options.frames:
        sys.exit(f"stream.py: {count} answers, expected {options.frames}")
    pairs = list(zip(rounds["stream"], rounds["peer"], rounds["decoder"], rounds["model"], rounds["pipe"]))
    result = {
        "date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load, "frames": options.frames,
        "roundCount": options.rounds, "rounds": rounds, "agreement": same,
        "peerRatio": statistics.median(a[0] / b[0] for a, b, *_ in pairs),
        "slowerRatio": statistics.median(a[0] / min(c[0], d[0]) for a, _, c, d, _ in pairs),
        "overhead": statistics.median(a[1] / (c[1] + options.frames * d[1]) - 1 for a, _, c, d, _ in pairs),
        "pipeOverhead": statistics.median((e[1] - c[1]) / (c[1] + options.frames * d[1]) for _, _, c, d, e in pairs),
        **parts,
    }
    report.save(options.name, result, text(result))
    print(text(result))


if __name__ == "__main__":
    main()
