#!/usr/bin/env python3
"""Names the parts of the processor time of `kelvin stream` on a video file, from samples of perf.

Usage: stream_parts.py [--kelvin PATH] [--clip MP4] [--frames N] [--name NAME]; needs perf and ffmpeg. README.md says more.
"""
import argparse
import collections
import pathlib
import tempfile
from datetime import date

import quiet
import report
import stream

# The first rule that holds names the part of a sample: words in the name of its thread, its binary and its symbol.
RULES = [
    ("ffprobe", "", "", "starting and loading"), ("ffmpeg", "kernel", "", "the pipe: writing"),
    ("ffmpeg", "ld-linux", "", "starting and loading"), ("ffmpeg", "", "", "decoding"),
    ("", "", "ck_thread_pool", "waiting of threads"), ("", "", "worker_main", "waiting of threads"),
    ("", "", "ck_", "the model's kernels"), ("", "", "ImageSampler", "crop and scale"),
    ("", "", "kelvin_chroma", "crop and scale"), ("", "", "line_avx2", "crop and scale"),
    ("", "", "between_avx2", "crop and scale"), ("", "kernel", "", "the pipe and other calls of the system"),
    ("", "", "", "answers, queue, record, the rest"),
]


def part(sample):
    return next(name for *words, name in RULES if all(word in text for word, text in zip(words, sample)))


def parts(kelvin, clip, folder):
    """The share of each part in the processor time of the program and its children."""
    samples = pathlib.Path(folder) / "samples"
    command = [kelvin, "stream", stream.MODEL, clip, "--normalization", "imagenet", "--units", "cpu", "--json"]
    stream.run(["perf", "record", "-F", 499, "-o", samples, "--"] + command)
    output, _, _ = stream.run(["perf", "report", "-i", samples, "--no-children", "--sort", "comm,dso,symbol", "-t", "|"])
    shares = collections.Counter()
    for line in output.decode().splitlines():
        if line.strip() and not line.startswith("#"):
            share, *sample = (text.strip() for text in line.split("|"))
            shares[part(sample)] += float(share.rstrip("%")) / 100
    _, _, used = stream.run(command)
    return dict(shares.most_common()), used


def text(result):
    lines = ["# Parts of a stream", "", report.heading(result, "one run"), "",
             f"`kelvin stream` with MobileNetV2 (float32, 224 x 224) on {result['frames']} frames of 1920 x 1080. The processor time of a frame is "
             f"{1000 * result['seconds'] / result['frames']:.1f} ms, that of ffmpeg included.", "",
             "| part | share, % | ms per frame |", "|---|--:|--:|"]
    for name, share in result["shares"].items():
        lines.append(f"| {name} | {100 * share:.1f} | {1000 * share * result['seconds'] / result['frames']:.2f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kelvin", default=stream.ROOT / ".build/release/kelvin")
    parser.add_argument("--clip", default=stream.SHARED / "video" / "bottle-detection.mp4")
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--name", default="stream_parts")
    options = parser.parse_args()
    load = quiet.warn()
    with tempfile.TemporaryDirectory() as folder:
        clip = stream.enlarged(options.clip, options.frames, folder)
        shares, seconds = parts(options.kelvin, clip, folder)
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load, "frames": options.frames,
              "shares": shares, "seconds": seconds}
    report.save(options.name, result, text(result))
    print(text(result))


if __name__ == "__main__":
    main()
