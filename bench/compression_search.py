#!/usr/bin/env python3
"""Compares copies of a classifier whose forms `kelvin compress --budget` chose with coremltools' uniform copies of the same size.

Usage: compression_search.py [--kelvin PATH] [--model PACKAGE] [--count N | --search CSV --test CSV] [--name NAME]; in an
environment with coremltools 9, numpy, pillow and scikit-learn. README.md says more.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from datetime import date

from PIL import Image

import photos
import report
from compression import PEER, SHARED, ROOT, spent

FORMS = ["palette-8", "int8", "palette-6", "palette-4", "palette-2"]


def crops(folder, count, seed):
    """Writes random crops of the photos, each of 40 to 100 % of the shorter side, half of them mirrored."""
    generator = random.Random(seed)
    names = [name for name in photos.every() if not name.startswith("mnist")]
    paths = []
    for number in range(count):
        with Image.open(photos.FOLDER / names[number % len(names)]) as file:
            image = file.convert("RGB")
        side = int(min(image.size) * generator.uniform(0.4, 1))
        left, top = (generator.randint(0, size - side) for size in image.size)
        crop = image.crop((left, top, left + side, top + side)).resize((256, 256), Image.Resampling.LANCZOS)
        if generator.random() < 0.5:
            crop = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        paths.append(f"{folder}/{seed}-{number}.png")
        crop.save(paths[-1])
    return paths


def labelled(kelvin, model, paths, target):
    """Writes a data set whose classes are the model's own answers."""
    output = subprocess.run([kelvin, "classify", model, *paths, "--top", "1", "--json"], capture_output=True, text=True, check=True)
    lines = ["image,label"]
    for answer in json.loads(output.stdout):
        label = answer["observations"][0]["identifier"].replace('"', '""')
        lines.append(f'{answer["image"]},"{label}"')
    pathlib.Path(target).write_text("\n".join(lines) + "\n")
    return target


def size(package):
    return sum(path.stat().st_size for path in pathlib.Path(package).rglob("*") if path.is_file())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kelvin", default=str(ROOT / ".build/release/kelvin"))
    parser.add_argument("--model", default=str(SHARED / "models/MobileNetV2_f16.mlpackage"))
    parser.add_argument("--count", type=int, default=300, help="crops for the search, and as many others for the comparison")
    parser.add_argument("--search", help="a labelled data set for the search, in place of crops")
    parser.add_argument("--test", help="a labelled data set for the comparison")
    parser.add_argument("--option", action="append", default=[], help="another option of the search: --option=--ios=18")
    parser.add_argument("--name", default="compression-search")
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        search = asked.search or labelled(asked.kelvin, asked.model, crops(folder, asked.count, 1), f"{folder}/search.csv")
        test = asked.test or labelled(asked.kelvin, asked.model, crops(folder, asked.count, 2), f"{folder}/test.csv")
        counts = [len(pathlib.Path(path).read_text().splitlines()) - 1 for path in (search, test)]
        own = subprocess.run([asked.kelvin, "evaluate", asked.model, test, "--units", "cpu", "--json"],
                             capture_output=True, text=True, check=True).stdout
        own = json.loads(own)["results"][0]["top1"]
        for form in FORMS:
            mine, peer = f"{folder}/kelvin.mlpackage", f"{folder}/peer.mlpackage"
            for path in (mine, peer):
                shutil.rmtree(path, ignore_errors=True)
            subprocess.run([sys.executable, "-c", PEER, asked.model, peer, form], capture_output=True, check=True)
            budget = size(peer)
            seconds, output = spent([asked.kelvin, "compress", asked.model, mine, "--budget", str(budget), "--data", search,
                                     "--units", "cpu", "--json", *asked.option])
            output = subprocess.run([asked.kelvin, "evaluate", peer, mine, test, "--units", "cpu", "--json"],
                                    capture_output=True, text=True, check=True).stdout
            theirs, ours = json.loads(output)["results"]
            rows.append({"form": form, "peerBytes": budget, "bytes": size(mine), "peerShare": theirs["top1"], "share": ours["top1"],
                         "difference": ours["againstFirst"], "searchSeconds": seconds})
            print(json.dumps(rows[-1]), file=sys.stderr)
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load,
              "model": pathlib.Path(asked.model).name, "counts": counts, "ownShare": own, "rows": rows}
    images = (f"{counts[0]} labelled images for the search, {counts[1]} others for the comparison" if asked.test else
              f"{counts[0]} crops of 10 photos for the search, {counts[1]} others for the comparison")
    answer = "right answer" if asked.test else "same answer"
    meaning = ("of images for which a copy is right" if asked.test else
               "of crops for which a copy gives the answer of the model itself")
    lines = ["# Copies chosen by measurement against uniform copies", "", report.heading(result, images), "",
             f"The model is {result['model']}. A copy by coremltools 9.0 has one form for all weights. Kelvin's copy has at most its "
             f"size, and forms that were chosen by measurement. The table has the share {meaning}, with 95 % intervals."
             + (f" The model itself is right for {100 * own['value']:.1f} %." if asked.test else ""), "",
             f"| coremltools' form | bytes | {answer} | Kelvin's bytes | {answer} | difference | search |",
             "|---|--:|--:|--:|--:|--:|--:|"]

    def share(measure):
        low, high = measure["interval"]
        return f"{100 * measure['value']:.1f} % ({100 * low:.1f} to {100 * high:.1f})"

    for row in rows:
        low, high = row["difference"]["interval"]
        lines.append(
            f"| {row['form']} | {row['peerBytes']:,} | {share(row['peerShare'])} | {row['bytes']:,} | {share(row['share'])} | "
            f"{100 * row['difference']['difference']:+.1f} ({100 * low:+.1f} to {100 * high:+.1f}) | {row['searchSeconds']:.0f} s |")
    lines += ["", "The last column is the processor time of the whole command.", ""]
    report.save(asked.name, result, "\n".join(lines))


if __name__ == "__main__":
    main()
