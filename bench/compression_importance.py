#!/usr/bin/env python3
"""Compares copies of a classifier by `kelvin compress` with and without `--importance`, which counts the error of a weight's
element by the values that it multiplies.

Usage: compression_importance.py [--kelvin PATH] [--model PACKAGE] [--count N] [--forms LIST] [--name NAME]; in an environment
with coremltools 9, numpy, pillow and scikit-learn. README.md says more.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
from datetime import date

import report
from compression import ROOT, SHARED
from compression_search import crops, labelled


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kelvin", default=str(ROOT / ".build/release/kelvin"))
    parser.add_argument("--model", default=str(SHARED / "models/MobileNetV2_f16.mlpackage"))
    parser.add_argument("--count", type=int, default=60, help="crops for the activations, and twice as many for the comparison")
    parser.add_argument("--forms", default="palette-4,palette-6")
    parser.add_argument("--name", default="compression-importance")
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        search = labelled(asked.kelvin, asked.model, crops(folder, asked.count, 1), f"{folder}/search.csv")
        test = labelled(asked.kelvin, asked.model, crops(folder, 2 * asked.count, 2), f"{folder}/test.csv")
        for form in asked.forms.split(","):
            copies, changes = [], []
            for name, options in (("plain", []), ("weighted", ["--importance"])):
                copies.append(f"{folder}/{form}-{name}.mlpackage")
                output = subprocess.run(
                    [asked.kelvin, "compress", asked.model, copies[-1], "--form", form, "--data", search, "--units", "cpu", "--json",
                     *options], capture_output=True, text=True, check=True).stdout
                changes.append(json.loads(output)["measured"]["change"])
            output = subprocess.run([asked.kelvin, "evaluate", *copies, test, "--units", "cpu", "--json"],
                                    capture_output=True, text=True, check=True).stdout
            plain, weighted = json.loads(output)["results"]
            rows.append({"form": form, "plainShare": plain["top1"], "share": weighted["top1"], "plainChange": changes[0],
                         "change": changes[1], "difference": weighted["againstFirst"]})
            print(json.dumps(rows[-1]))
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load,
              "model": pathlib.Path(asked.model).name, "count": asked.count, "rows": rows}
    crops_used = f"{asked.count} crops of 10 photos for the activations, {2 * asked.count} others for the comparison"
    lines = ["# Palettes with and without importance", "", report.heading(result, crops_used), "",
             f"The model is {result['model']}. All weights have one form. With importance the squared error of an element counts by the "
             "mean square of the values that it multiplies. The table has the share of crops for which a copy gives the answer of the "
             "model itself, with 95 % intervals, and the divergence of the probabilities on the first crops in nats.", "",
             "| form | same answer, plain | same answer, importance | difference | divergence, plain | divergence, importance |",
             "|---|--:|--:|--:|--:|--:|"]

    def share(measure):
        low, high = measure["interval"]
        return f"{100 * measure['value']:.1f} % ({100 * low:.1f} to {100 * high:.1f})"

    for row in rows:
        low, high = row["difference"]["interval"]
        lines.append(
            f"| {row['form']} | {share(row['plainShare'])} | {share(row['share'])} | {100 * row['difference']['difference']:+.1f} "
            f"({100 * low:+.1f} to {100 * high:+.1f}) | {row['plainChange']:.3f} | {row['change']:.3f} |")
    report.save(asked.name, result, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
