"""Measures reading a model: processor time and memory over the number of its operations, and the bytes of a large
file that a first prediction reads. README.md says more.

Usage: loading.py [--kelvin PATH] [--rounds N] [--counts N,…] [--gigabytes N] [--name NAME]
"""

import argparse
import os
import statistics
import subprocess
import tempfile
from datetime import date

import numpy as np
import onnx
from onnx import TensorProto, helper

import growth_models
import quiet
import report
from catalog import ROOT
from contenders import driver
from network import OPSET

# The limits: processor seconds for 5,000 operations, and the increase for each operation at four times as many.
SECONDS, OPERATIONS, DEARER = 0.5, 5000, 2.0
# The limit of bytes read: a first prediction may also read its program, the libraries and some pages around the
# weights.
READ = 1.05


def used(command):
    """Processor seconds, most bytes resident, and bytes read from disks by one process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"exit status {process.returncode}: {' '.join(command)}")
    return {"seconds": usage.ru_utime + usage.ru_stime, "peak": 1024 * usage.ru_maxrss, "read": 512 * usage.ru_inblock}


def planned(kelvin, path, rounds):
    runs = [used([kelvin, "plan", path, "--units", "cpu-only", "--no-cache"]) for _ in range(rounds)]
    return {key: statistics.median(run[key] for run in runs) for key in ("seconds", "peak")}


def large(folder, gigabytes, width=4096):
    """Writes a row of square linear layers whose weights are in a separate file."""
    count = round(gigabytes * (1 << 30) / (4 * width * width))
    random = np.random.default_rng(20)
    weights, nodes = [], []
    with open(os.path.join(folder, "weights"), "wb") as file:
        for index in range(count):
            tensor = TensorProto(name=f"w{index}", data_type=TensorProto.FLOAT, dims=[width, width],
                                 data_location=TensorProto.EXTERNAL)
            block = random.standard_normal((width, width), np.float32) / np.float32(np.sqrt(width))
            for key, value in (("location", "weights"), ("offset", str(file.tell())), ("length", str(block.nbytes))):
                tensor.external_data.add(key=key, value=value)
            file.write(block)
            weights.append(tensor)
            nodes.append(helper.make_node("MatMul", [f"x{index}", f"w{index}"], [f"x{index + 1}"], name=f"layer{index}"))
        file.flush()
        os.fsync(file.fileno())
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])] for name in ("x0", f"x{count}")]
    graph = helper.make_graph(nodes, "large", *ends, weights)
    path = os.path.join(folder, "large.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8), path)
    return path


def forgotten(path):
    """Removes a file from the page cache."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def first_reads(kelvin, gigabytes):
    with tempfile.TemporaryDirectory(dir=ROOT / ".build") as folder:
        path = large(folder, gigabytes)
        weights = os.path.join(folder, "weights")
        command = [kelvin, "predict", path, "--units", "cpu-only", "--no-cache", "--seed", "1", "--output-dir", os.path.join(folder, "out")]
        forgotten(weights)
        return {"bytes": os.path.getsize(weights)} | used(command)


def text(result):
    least = next((row for row in result["rows"] if row["count"] == OPERATIONS), None)
    lines = ["# Loading over the number of operations", "", report.heading(result, f"medians of {result['rounds']} runs"), "",
             "Processes of `kelvin plan --units cpu-only --no-cache`, from start to end: the model is parsed, inferred, passed "
             f"through all passes and planned. {OPERATIONS:,} operations are held to {SECONDS} s of a processor, and what each "
             f"operation of the largest takes to {DEARER:g} times that.", "",
             "| operations | MB | processor time | µs / operation | most resident | verdict |", "|--:|--:|--:|--:|--:|---|"]
    for row in result["rows"]:
        each = row["seconds"] / row["count"]
        verdict = "–"
        if row["count"] == OPERATIONS:
            verdict = "met" if row["seconds"] < SECONDS else f"above {SECONDS} s"
        elif least and row["count"] > OPERATIONS:
            ratio = each / (least["seconds"] / OPERATIONS)
            verdict = f"{ratio:.2f} times each of {OPERATIONS:,}: " + ("met" if ratio <= DEARER else f"above {DEARER:g}")
        lines.append(f"| {row['count']:,} | {row['bytes'] / 1e6:.2f} | {report.milliseconds(row['seconds'])} | {1e6 * each:.1f} | "
                     f"{row['peak'] / 1e6:.0f} MB | {verdict} |")
    first = result["first"]
    if first:
        ratio = first["read"] / first["bytes"]
        lines += ["", "## A first prediction of a large model", "",
                  f"A row of linear layers of 4096 × 4096, {first['bytes'] / 1e9:.2f} GB of weights in a file of their own, which was "
                  "taken out of the page cache; `kelvin predict --no-cache`, one process.", "",
                  "| weights | read from the disk | ratio | processor time | most resident | verdict |", "|--:|--:|--:|--:|--:|---|",
                  f"| {first['bytes'] / 1e9:.2f} GB | {first['read'] / 1e9:.2f} GB | {ratio:.3f} | "
                  f"{report.milliseconds(first['seconds'])} | {first['peak'] / 1e9:.2f} GB | "
                  + ("each byte once" if ratio <= READ else f"above {READ}") + " |"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kelvin", default=str(ROOT / ".build/release/kelvin"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--counts", type=lambda text: [int(part) for part in text.split(",")], default=[1000, 5000, 20000])
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--name", default="loading")
    arguments = parser.parse_args()
    load = quiet.warn()
    rows = []
    for count in arguments.counts:
        path = growth_models.kept(f"mixed_{count}", lambda count=count: growth_models.mixed(count))
        rows.append({"count": count, "bytes": path.stat().st_size} | planned(arguments.kelvin, str(path), arguments.rounds))
    first = first_reads(arguments.kelvin, arguments.gigabytes) if arguments.gigabytes > 0 else None
    result = {"date": date.today().isoformat(), "machine": report.machine([]) | {"kelvin": driver(arguments.kelvin)},
              "loadAverageBefore": load, "rounds": arguments.rounds, "rows": rows, "first": first}
    report.save(arguments.name, result, text(result))
    print(text(result))


if __name__ == "__main__":
    main()
