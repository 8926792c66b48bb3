#!/usr/bin/env python3
"""Rates of kelvin index, and times of kelvin search over 100,000 images, as one page of Markdown.

Usage: collection_rates.py MODEL [--images 2000] [--work DIR]     needs a release build, Pillow and numpy

Images are variants of the photos of ../shared (or $KELVIN_SHARED), two megapixels each. Decoding alone
(ImageBench rate) and predicting alone (kelvin bench, throughput) share the processors when they are done together, so
that an index can be no faster than 1 / (1 / decoding + 1 / predicting). The index of 100,000 is made up: labels and
vectors drawn at random, in the format of docs/index-format.md.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time

import numpy as np
from PIL import Image, ImageEnhance

import quiet

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / ".build/release/kelvin"
SHARED = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT / ".." / "shared"))
IMAGES = ROOT / ".build/release/ImageBench"
SIZE, DIMENSIONS, COUNT = (1600, 1200), 512, 100_000


def make_photos(folder, count):
    """Crops of the photos, all different."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    sources = [Image.open(path).convert("RGB") for path in sorted((SHARED / "images/photos").iterdir())]
    for number in range(count):
        path = folder / f"{number:05}.jpg"
        if path.exists():
            continue
        source = sources[number % len(sources)]
        share = draw.uniform(0.6, 1)
        width, height = int(source.width * share), int(source.height * share)
        left, top = draw.randrange(source.width - width + 1), draw.randrange(source.height - height + 1)
        image = source.crop((left, top, left + width, top + height)).resize(SIZE)
        ImageEnhance.Brightness(image).enhance(draw.uniform(0.8, 1.2)).save(path, quality=85)


def run(*arguments):
    return subprocess.run([str(word) for word in arguments], check=True, capture_output=True, text=True).stdout


def rates(model, folder):
    cores = os.cpu_count()
    decoding = float(run(IMAGES, "rate", cores, folder))
    bench = json.loads(run(TOOL, "bench", model, "--workload", "throughput", "--duration", "10", "--units", "cpu", "--json"))
    predicting = max(configuration["throughput"] for configuration in bench["configurations"])
    index = folder / ".kelvin-index.sqlite"
    for path in folder.glob(".kelvin-index*"):
        path.unlink()
    first = json.loads(run(TOOL, "index", folder, "--model", model, "--units", "cpu", "--json"))
    again = json.loads(run(TOOL, "index", folder, "--units", "cpu", "--json"))
    both = 1 / (1 / decoding + 1 / predicting)
    rate = first["seen"] / first["seconds"]
    return [("decoding alone", f"{decoding:.1f} /s"), ("predicting alone", f"{predicting:.1f} /s"),
            ("both, if nothing else cost anything", f"{both:.1f} /s"),
            ("kelvin index", f"{rate:.1f} /s, {rate / both:.2f} of that"),
            ("kelvin index again, nothing changed", f"{again['seconds'] * 1e3:.0f} ms"),
            ("index", f"{index.stat().st_size / first['seen']:.0f} bytes an image")]


def make_up(folder, model, labels):
    """Makes a synthetic index of many images, around the index that a model began with one image."""
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (64, 64), "red").save(folder / "one.png")
    run(TOOL, "index", folder, "--model", model, "--units", "cpu", "--json")
    numbers = np.random.default_rng(1)
    file = sqlite3.connect(folder / ".kelvin-index.sqlite")
    file.execute("DELETE FROM observations"), file.execute("DELETE FROM pictures"), file.execute("DELETE FROM labels")
    file.execute("INSERT INTO label_words (label_words) VALUES ('delete-all')")
    file.executemany("INSERT INTO labels VALUES (?, ?)", enumerate(labels, 1))
    file.execute("INSERT INTO label_words (label_words) VALUES ('rebuild')")
    file.execute("UPDATE facts SET value = ? WHERE name = 'dimensions'", (DIMENSIONS,))
    for start in range(0, COUNT, 10_000):
        ids = range(start + 1, start + 10_001)
        file.executemany("INSERT INTO pictures VALUES (?, ?, 1, ?, 1, ?, 64, 64, ?, NULL)", (
            (i, f"{i % 97}/{i}.jpg", i * 10**12, i.to_bytes(32, "big"), int(numbers.integers(-2**63, 2**63 - 1))) for i in ids))
        chosen = numbers.integers(1, len(labels) + 1, (10_000, 5))
        file.executemany("INSERT INTO observations VALUES (?, ?, ?, ?)", (
            (i, rank, int(label), 0.9 / (rank + 1)) for i, row in zip(ids, chosen) for rank, label in enumerate(row)))
        vectors = numbers.standard_normal((10_000, DIMENSIONS)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        file.executemany("INSERT INTO embeddings VALUES (?, ?)", ((i, v.tobytes()) for i, v in zip(ids, vectors)))
        file.commit()
    # The entry of one image that exists, whose vector is found by the digest of its contents.
    digest = hashlib.sha256((folder / "one.png").read_bytes()).digest()
    file.execute("UPDATE pictures SET content = ? WHERE id = 77", (digest,))
    file.commit()
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()


def searches(folder):
    def timed(*words):
        seconds = []
        for _ in range(21):
            began = time.perf_counter()
            run(TOOL, "search", folder, *words)
            seconds.append(time.perf_counter() - began)
        seconds.sort()
        return f"{statistics.median(seconds) * 1e3:.1f} ms, {seconds[-3] * 1e3:.1f} at most in nine of ten"

    return [("kelvin search 'otter OR badger'", timed("otter OR badger")),
            ("kelvin search 'dog OR cat OR terrier'", timed("dog OR cat OR terrier")),
            ("kelvin search 'terrier NOT otter' --min-confidence 0.4", timed("terrier NOT otter", "--min-confidence", "0.4")),
            ("kelvin search --like, 512 dimensions", timed("--like", folder / "one.png"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--labels", type=pathlib.Path, default=SHARED / "labels/imagenet_labels.txt")
    arguments = parser.parse_args()
    quiet.warn()
    work = arguments.work or pathlib.Path(tempfile.mkdtemp(prefix="kelvin-collections-"))
    make_photos(work / "photos", arguments.images)
    labels = list(dict.fromkeys(arguments.labels.read_text().splitlines()))
    if not (work / "made-up" / ".kelvin-index.sqlite").exists():
        make_up(work / "made-up", arguments.model, labels)
    print(f"{arguments.model.name}, {arguments.images} JPEG files of {SIZE[0]} x {SIZE[1]}, {os.cpu_count()} processors\n")
    print("| | |\n|---|---|")
    for name, value in rates(arguments.model, work / "photos") + searches(work / "made-up"):
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
