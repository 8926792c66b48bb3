"""Runs a decoder on a device whose memory is smaller than the decoder's weights, behind a driver that counts memory.

Usage: device_memory.py [--kelvin PATH] [--layers N] [--share PERCENT] [--interfaces vulkan,opencl] [--name NAME]

The loaders of Tests/CFaultyDrivers limit the device's memory and write down the peak. For each interface, four plans run one token behind 31
others: the CPU alone, the planned one, and, with the device's measured times divided by --faster, the planned one and the best prefix of the
model's nodes on the device. The second pair shows mixed plans where the device shares the processor. Then each plan reads a prompt and
continues it greedily; its tokens must be those of the CPU.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile
from datetime import date

import numpy as np

import decoder_models
import models
import quiet
import report
from catalog import CACHE

ROOT = pathlib.Path(__file__).parent.parent
SOURCES = ROOT / "Tests" / "CFaultyDrivers"
PAST, PROMPT, STEPS = 31, 8, 6
WORDS = 8192


class Machine:
    """Calls of Kelvin behind the counting loaders."""

    def __init__(self, kelvin, folder):
        self.kelvin, self.folder = kelvin, pathlib.Path(folder)
        listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
        paths = {name: re.search(rf"{re.escape(name)} .*=> (\S+)", listed).group(1)
                 for name in ("libvulkan.so.1", "libOpenCL.so.1")}
        library = self.folder / "libvulkan.so.1"
        subprocess.run(
            ["cc", "-std=gnu2x", "-O1", "-w", "-D_Nullable=", "-D_Nonnull=", "-DFAULTY_SHARED", "-fvisibility=hidden", "-shared",
             "-fPIC", f"-I{ROOT}/Sources/CKelvinSupport/include", f"-I{SOURCES}/include", *map(str, SOURCES.glob("*.c")), "-o",
             str(library)], check=True)
        (self.folder / "libOpenCL.so.1").symlink_to(library.name)
        self.environment = {**os.environ, "LD_LIBRARY_PATH": folder, "FAULTY_FAULT": "none 1 0 0 0",
                            "FAULTY_VULKAN": paths["libvulkan.so.1"], "FAULTY_OPENCL": paths["libOpenCL.so.1"],
                            "KELVIN_CACHE_DIR": str(self.folder / "cache"), "FAULTY_PEAK": str(self.folder / "peak")}

    def run(self, *arguments, limit=0):
        """Returns the output of a command and the peak of the device's memory, in bytes."""
        peak = self.folder / "peak"
        peak.unlink(missing_ok=True)
        done = subprocess.run([self.kelvin, *map(str, arguments)], capture_output=True, text=True,
                              env={**self.environment, "FAULTY_MEMORY": str(limit)})
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout, max(map(int, peak.read_text().split()), default=0) if peak.exists() else 0


def decoder(layers):
    """The path of a decoder of the shape of GPT-2's smallest with so many layers and 8192 words."""
    path = pathlib.Path(CACHE) / f"gpt2_past_{layers}.onnx"
    decoder_models.LAYERS, decoder_models.WORDS = layers, WORDS
    if not path.exists():
        models.saved(decoder_models.gpt2_past(), path)
    return path


def shapes(length, past, layers):
    heads, size = decoder_models.HEADS, decoder_models.SIZE
    return {"input_ids": (1, length), "position_ids": (1, length), "attention_mask": (1, past + length),
            **{f"past_key_values.{layer}.{part}": (1, heads, past, size) for layer in range(layers) for part in ("key", "value")}}


def options(sizes):
    return [item for name, shape in sizes.items() for item in ("--shape", f"{name}={'x'.join(map(str, shape))}")]


def weight_bytes(node):
    """The float32 constants of a planned node, in bytes."""
    return sum(4 * math.prod(map(int, shape.split("x"))) for shape in re.findall(r"const float32\[([0-9x]+)\]", node["computation"] or ""))


def placement(plan):
    return {node["name"]: node["device"] for node in plan["nodes"]}


def tokens(machine, path, layers, device, places, limit, alone=False):
    """Greedy tokens of a fixed prompt, with nodes pinned to their places; the last logits; and the largest peak of the device's memory."""
    arguments = ["--units", "cpu" if alone else f"cpu,{device}", "--precision", "full"]
    for node, place in places.items():
        arguments += ["--pin", f"{node}={place}"]
    ids = [int(token) for token in np.random.default_rng(11).integers(0, WORDS, PROMPT)]
    made, largest, caches, read = [], 0, {}, 0
    for _ in range(STEPS):
        part = ids[read:]
        values = {"input_ids": np.array([part], np.int64), "position_ids": np.arange(read, len(ids), dtype=np.int64)[None],
                  "attention_mask": np.ones((1, len(ids)), np.int64)}
        for name, shape in shapes(len(part), read, layers).items():
            if name.startswith("past"):
                values[name] = caches.get(name, np.zeros(shape, np.float32))
        with tempfile.TemporaryDirectory(dir=machine.folder) as folder:
            given = []
            for name, value in values.items():
                np.save(f"{folder}/{name}.npy", value)
                given += ["--input", f"{name}={folder}/{name}.npy"]
            out = pathlib.Path(folder) / "out"
            _, peak = machine.run("predict", path, *given, *arguments, "--output-dir", out, limit=limit)
            logits = np.load(out / "logits.npy")
            caches = {f"past_key_values.{layer}.{part}": np.load(out / f"present.{layer}.{part}.npy")
                      for layer in range(layers) for part in ("key", "value")}
        largest, read = max(largest, peak), len(ids)
        made.append(int(logits[0, -1].argmax()))
        ids.append(made[-1])
    return made, logits[0, -1], largest


def planned(machine, arguments, profile, limit, pins=()):
    """The plan for a profile, as JSON; None if it does not fit."""
    pinned = [item for node, place in dict(pins).items() for item in ("--pin", f"{node}={place}")]
    try:
        text, _ = machine.run("plan", *arguments, *pinned, "--profile", profile, "--no-trial", "--json", limit=limit)
    except RuntimeError as failure:
        if "within" in str(failure) or "holds" in str(failure):
            return None
        raise
    return json.loads(text)


def best_prefix(machine, arguments, profile, limit, whole, device):
    """The plan with the least predicted time among those whose first nodes are on the device and whose others on the host."""
    nodes = [(node["name"], weight_bytes(node)) for node in whole["nodes"] if any(c["device"] == device for c in node["candidates"])]
    ends, held = [0], 0
    for index, (_, count) in enumerate(nodes):
        held += count
        if count and held <= limit:
            ends.append(index + 1)
    plans = []
    # The longest prefixes that fit, and some shorter ones.
    for end in sorted({*ends[-3:], *ends[::max(1, len(ends) // 6)]}):
        pins = {name: device if index < end else "cpu" for index, (name, _) in enumerate(nodes)}
        plan = planned(machine, arguments, profile, limit, pins)
        if plan is not None:
            plans.append(plan)
    return min(plans, key=lambda plan: plan["predicted"])


def timed(machine, arguments, profile, limit, plan, device):
    """The median time of an inference, and the peak of the device's memory."""
    pinned = [item for node, place in placement(plan).items() for item in ("--pin", f"{node}={place}")]
    text, peak = machine.run("bench", *arguments, *pinned, "--profile", profile, "--iterations", 10, "--rounds", 3,
                             "--no-agreement", "--json", limit=limit)
    found = json.loads(text)["configurations"][0]
    if found.get("failure"):
        raise RuntimeError(found["failure"])
    return found["p50"], peak


def accelerated(profile, device, factor, path):
    """A copy of a profile with a device that many times as fast."""
    document = json.loads(profile.read_text())
    for costs in document["nodes"].values():
        if device in costs:
            cost = costs[device]
            cost["seconds"] /= factor
            cost["interval"] = {**cost["interval"], "lower": cost["seconds"], "upper": cost["seconds"]}
    path.write_text(json.dumps(document))
    return path


def measure(machine, path, layers, interface, share, faster):
    device = f"{interface}:0"
    arguments = [path, "--precision", "full", "--threads", 2, *options(shapes(1, PAST, layers))]
    profile = machine.folder / f"{interface}.json"
    both = [*arguments, "--units", f"cpu,{device}"]
    machine.run("profile", *both, "--budget", 10, "--save", profile)
    whole = planned(machine, both, profile, 0)
    held = sum(weight_bytes(node) for node in whole["nodes"])
    limit = held * share // 100
    fast = accelerated(profile, device, faster, machine.folder / f"{interface}-fast.json")
    plans = {"CPU alone": (planned(machine, [*arguments, "--units", "cpu"], profile, 0), profile),
             "planned": (planned(machine, both, profile, limit), profile),
             f"planned, device {faster:g} times as fast": (planned(machine, both, fast, limit), fast),
             f"best prefix, device {faster:g} times as fast": (best_prefix(machine, both, fast, limit, whole, device), fast)}
    expected, wanted, _ = tokens(machine, path, layers, device, {}, 0, alone=True)
    rows = []
    for name, (plan, costs) in plans.items():
        on = {node for node, place in placement(plan).items() if place == device}
        seconds, peak = timed(machine, both, costs, limit, plan, device)
        # The prediction with the device's own times.
        own = planned(machine, both, profile, limit, placement(plan))
        made, logits, most = tokens(machine, path, layers, device, placement(plan), limit)
        rows.append({"plan": name, "nodes": len(on), "allNodes": len(plan["nodes"]), "predictedByItsProfile": plan["predicted"],
                     "weights": sum(weight_bytes(node) for node in plan["nodes"] if node["name"] in on),
                     "predicted": own["predicted"], "measured": seconds, "peak": max(peak, most), "tokensAgree": made == expected,
                     "logitsOff": float(np.abs(logits - wanted).max() / np.abs(wanted).max())})
        print(rows[-1], flush=True)
    return {"interface": interface, "weights": held, "limit": limit, "rows": rows}


def markdown(result):
    def mebibytes(count):
        return f"{count / 2**20:.1f} MiB"
    rows = [report.heading(result, f"a decoder of {result['layers']} layers, one token behind {PAST}, 2 threads; tokens: {STEPS} greedy "
                                   f"ones behind {PROMPT}"), "",
            "The devices share the processor with the CPU, so their measured times say little about a card. At a load average above 1, "
            "measured times are noisy.", "",
            "| Device | Memory | Plan | Nodes on it | Weights on it | Peak there | Predicted by its profile | Predicted | Measured | "
            "Tokens of the CPU | Logits, largest difference |",
            "|---|---|---|---|---|---|---|---|---|---|---|"]
    for entry in result["entries"]:
        for row in entry["rows"]:
            rows.append(" | ".join([
                f"| {entry['interface']}", f"{mebibytes(entry['limit'])} of {mebibytes(entry['weights'])}", row["plan"],
                f"{row['nodes']} of {row['allNodes']}", mebibytes(row["weights"]), mebibytes(row["peak"]),
                report.milliseconds(row["predictedByItsProfile"]), report.milliseconds(row["predicted"]),
                report.milliseconds(row["measured"]), "yes" if row["tokensAgree"] else "no",
                f"{row['logitsOff']:.1e}"]) + " |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Run a decoder on a device that is smaller than its weights.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--share", type=int, default=25, help="the device's memory, in percent of the weights")
    parser.add_argument("--faster", type=float, default=50)
    parser.add_argument("--interfaces", default="vulkan,opencl")
    parser.add_argument("--name", default="device-memory", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = quiet.warn()
    path = decoder(arguments.layers)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments.kelvin, folder)
        entries = [measure(machine, path, arguments.layers, interface, arguments.share, arguments.faster)
                   for interface in arguments.interfaces.split(",")]
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load,
              "layers": arguments.layers, "share": arguments.share, "faster": arguments.faster, "entries": entries}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
