#!/usr/bin/env python3
"""Compares Kelvin's decoding of images with Pillow's and its colour management, over files and folders.

Usage: compare-images.py [--tool PATH] [--limit LEVELS] [--verbose] FILE|FOLDER…   (default: ../shared/images)

Both sides: 8-bit sRGB, upright, transparent parts on black. Every file must decode within `--limit` of 255 (mean absolute
difference), or be refused with a reason where Pillow refuses it too. Needs Pillow with LittleCMS, and
`swift build -c release --package-path bench --scratch-path .build`.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Images"))
from reference import pillow  # noqa: E402

SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".gif", ".bmp", ".avif"}
def kelvin(tool, paths, folder):
    """Returns an array or the text of the refusal for each path."""
    done = subprocess.run([tool, "decode", folder, *map(str, paths)], capture_output=True, text=True, check=True)
    results = [None] * len(paths)
    for line in done.stdout.splitlines():
        index, first, rest = line.split(" ", 2)
        if first == "ERROR":
            results[int(index)] = rest
        else:
            pixels = np.fromfile(os.path.join(folder, f"{index}.rgb"), np.uint8)
            results[int(index)] = pixels.reshape(int(rest), int(first), 3)
    return results


def compare(path, ours, limit):
    """(passed, line)"""
    try:
        theirs = pillow(path)
    except Exception as refusal:  # Pillow's decoders raise many kinds of exceptions
        if isinstance(ours, str):
            return True, f"refused by both: {ours} | Pillow: {refusal}"
        return False, f"read as {ours.shape[1]}x{ours.shape[0]}, Pillow refuses it: {refusal}"
    if isinstance(ours, str):
        return False, f"refused, Pillow reads it: {ours}"
    if ours.shape != theirs.shape:
        return False, f"{ours.shape[1]}x{ours.shape[0]}, Pillow {theirs.shape[1]}x{theirs.shape[0]}"
    difference = np.abs(ours.astype(int) - theirs)
    return difference.mean() <= limit, f"mean {difference.mean():.3f}, largest {difference.max()}"


def main():
    parser = argparse.ArgumentParser(description="Compare Kelvin's decoding of images with Pillow's.")
    parser.add_argument("--tool", default=str(ROOT / ".build" / "release" / "ImageBench"))
    parser.add_argument("--limit", type=float, default=2)
    parser.add_argument("--verbose", action="store_true", help="print the files that pass too")
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    shared = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT / ".." / "shared"))
    paths = []
    for path in arguments.paths or [shared / "images"]:
        found = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES)
        paths += found
    if not paths:
        sys.exit("compare-images.py: no images found")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path, ours in zip(paths, kelvin(arguments.tool, paths, folder)):
            passed, line = compare(path, ours, arguments.limit)
            failed += not passed
            if arguments.verbose or not passed:
                print(f"{'ok  ' if passed else 'FAIL'} {path}: {line}")
    print(f"{len(paths) - failed} of {len(paths)} images agree with Pillow {Image.__version__} within {arguments.limit}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
