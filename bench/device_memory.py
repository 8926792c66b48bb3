"""Runs a model on a device whose memory is smaller than the model's weights, behind a driver that counts memory.

Usage: device_memory.py [--kelvin PATH] [--model decoder|vit_b16] [--layers N] [--width N] [--limits MIB,…] [--share PERCENT]
                        [--interfaces vulkan,opencl] [--name NAME]

The loaders of Tests/CFaultyDrivers limit the device's memory and write down the peak. For each interface and limit, four plans run: the CPU
alone, the planned one, and, with the device's measured times divided by --faster, the planned one and the best prefix of the model's nodes
on the device. The second pair shows mixed plans where the device shares the processor. Rounds of all plans alternate.

A decoder runs one token behind 31 others. Then each plan reads a prompt and continues it greedily; its tokens must be those of the CPU. Of
ViT-B/16 the class must be the CPU's.

A last row asks for the device alone, so that the CPU runs what the device does not hold. In a further one the device tells --promised times
its memory, so that the driver refuses an allocation midway.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import date

import numpy as np

import decoder_models
import models
import quiet
import report
from catalog import CACHE, Case

ROOT = pathlib.Path(__file__).parent.parent
SOURCES = ROOT / "Tests" / "CFaultyDrivers"
PAST, PROMPT, STEPS = 31, 8, 6
WORDS = 8192


@dataclass(frozen=True)
class Memory:
    """The bytes that a device tells, and those that it has; 0 for the machine's own."""

    told: int = 0
    real: int = 0

    @classmethod
    def of(cls, count, promised=1):
        return cls(int(count * promised), count)


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

    def run(self, *arguments, memory=Memory()):
        """Returns the output of a command, the peak of the device's memory in bytes, and the notes."""
        peak = self.folder / "peak"
        peak.unlink(missing_ok=True)
        done = subprocess.run(
            [self.kelvin, *map(str, arguments)], capture_output=True, text=True,
            env={**self.environment, "FAULTY_MEMORY": str(memory.told), "FAULTY_HIDDEN": str(memory.told - memory.real)})
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout, max(map(int, peak.read_text().split()), default=0) if peak.exists() else 0, done.stderr

    def predict(self, path, values, arguments, memory):
        """Returns the outputs of a prediction by name, the peak of the device's memory in bytes, and the notes."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            given = []
            for name, value in values.items():
                np.save(f"{folder}/{name}.npy", value)
                given += ["--input", f"{name}={folder}/{name}.npy"]
            out = pathlib.Path(folder) / "out"
            _, peak, notes = self.run("predict", path, *given, *arguments, "--output-dir", out, memory=memory)
            return {file.stem: np.load(file) for file in out.glob("*.npy")}, peak, notes


class Decoder:
    """A decoder of the shape of GPT-2's smallest with so many layers, 8192 words and heads of 64."""

    def __init__(self, layers, width):
        self.title = f"a decoder of {layers} layers of width {width}, one token behind {PAST}"
        self.layers, self.heads = layers, width // decoder_models.SIZE
        self.path = pathlib.Path(CACHE) / (f"gpt2_past_{layers}.onnx" if width == 768 else f"gpt2_past_{layers}x{width}.onnx")
        decoder_models.LAYERS, decoder_models.WIDTH, decoder_models.HEADS = layers, width, self.heads
        decoder_models.WORDS = WORDS
        if not self.path.exists():
            models.saved(decoder_models.gpt2_past(), self.path)

    def shapes(self, length, past):
        return {"input_ids": (1, length), "position_ids": (1, length), "attention_mask": (1, past + length),
                **{f"past_key_values.{layer}.{part}": (1, self.heads, past, decoder_models.SIZE)
                   for layer in range(self.layers) for part in ("key", "value")}}

    @property
    def options(self):
        return [item for name, shape in self.shapes(1, PAST).items()
                for item in ("--shape", f"{name}={'x'.join(map(str, shape))}")]

    def answer(self, machine, arguments, memory):
        """Greedy tokens of a fixed prompt, the last logits, the largest peak of the device's memory, and the notes."""
        ids = [int(token) for token in np.random.default_rng(11).integers(0, WORDS, PROMPT)]
        made, largest, caches, read = [], 0, {}, 0
        for _ in range(STEPS):
            part = ids[read:]
            values = {"input_ids": np.array([part], np.int64), "position_ids": np.arange(read, len(ids), dtype=np.int64)[None],
                      "attention_mask": np.ones((1, len(ids)), np.int64)}
            for name, shape in self.shapes(len(part), read).items():
                if name.startswith("past"):
                    values[name] = caches.get(name, np.zeros(shape, np.float32))
            outputs, peak, notes = machine.predict(self.path, values, arguments, memory)
            caches = {name.replace("present", "past_key_values"): value for name, value in outputs.items()
                      if name.startswith("present")}
            largest, read = max(largest, peak), len(ids)
            made.append(int(outputs["logits"][0, -1].argmax()))
            ids.append(made[-1])
        return made, outputs["logits"][0, -1], largest, notes


class Images:
    """ViT-B/16 and one image."""

    title, options = "ViT-B/16, one image", []

    def __init__(self):
        self.path = models.build(CACHE, "vit_b16")

    def answer(self, machine, arguments, memory):
        """The class of the image, the logits, the peak of the device's memory, and the notes."""
        outputs, peak, notes = machine.predict(self.path, Case("vit_b16").arrays(), arguments, memory)
        return [int(outputs["logits"].argmax())], outputs["logits"], peak, notes


def weight_bytes(node):
    """The float32 constants of a planned node, in bytes."""
    return sum(4 * math.prod(map(int, shape.split("x"))) for shape in re.findall(r"const float32\[([0-9x]+)\]", node["computation"] or ""))


def placement(plan):
    return {node["name"]: node["device"] for node in plan["nodes"]}


def pins(places):
    return [item for node, place in places.items() for item in ("--pin", f"{node}={place}")]


def planned(machine, arguments, profile, memory, places={}):
    """The plan for a profile, as JSON; None if it does not fit."""
    try:
        text, *_ = machine.run("plan", *arguments, *pins(places), "--profile", profile, "--no-trial", "--json", memory=memory)
    except RuntimeError as failure:
        if "within" in str(failure) or "has room" in str(failure):
            return None
        raise
    return json.loads(text)


def best_prefix(machine, arguments, profile, memory, whole, device):
    """The plan with the least predicted time among those whose first nodes are on the device and whose others on the host."""
    nodes = [(node["name"], weight_bytes(node)) for node in whole["nodes"] if any(c["device"] == device for c in node["candidates"])]
    ends, held = [0], 0
    for index, (_, count) in enumerate(nodes):
        held += count
        if count and held <= memory.real:
            ends.append(index + 1)
    plans = []
    # The longest prefixes that fit, and some shorter ones.
    for end in sorted({*ends[-3:], *ends[::max(1, len(ends) // 6)]}):
        plan = planned(machine, arguments, profile, memory,
                       {name: device if index < end else "cpu" for index, (name, _) in enumerate(nodes)})
        if plan is not None:
            plans.append(plan)
    return min(plans, key=lambda plan: plan["predicted"])


def timed(machine, arguments, profile, memory, plan):
    """The median and the least time of an inference, and the peak of the device's memory."""
    text, peak, _ = machine.run("bench", *arguments, *pins(placement(plan)), "--profile", profile, "--iterations", 6, "--rounds", 1,
                                "--no-agreement", "--json", memory=memory)
    found = json.loads(text)["configurations"][0]
    if found.get("failure"):
        raise RuntimeError(found["failure"])
    return found["p50"], found["warm"]["minimum"], peak


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


def compared(answer, expected):
    """The made tokens or class, and the logits, beside those of the CPU."""
    return {"tokensAgree": answer[0] == expected[0],
            "logitsOff": float(np.abs(answer[1] - expected[1]).max() / np.abs(expected[1]).max())}


def measured_plans(machine, model, device, arguments, profile, fast, memory, faster, rounds, expected):
    """The rows of the four plans."""
    both, whole = [*arguments, "--units", f"cpu,{device}"], planned(machine, [*arguments, "--units", "cpu"], profile, Memory())
    plans = {"CPU alone": (whole, profile), "planned": (planned(machine, both, profile, memory), profile),
             f"planned, device {faster:g} times as fast": (planned(machine, both, fast, memory), fast)}
    everything = planned(machine, both, profile, Memory())
    plans[f"best prefix, device {faster:g} times as fast"] = (best_prefix(machine, both, fast, memory, everything, device), fast)
    times = {name: [] for name in plans}
    for number in range(rounds):
        for name, (plan, costs) in list(plans.items())[::-1 if number % 2 else 1]:
            times[name].append(timed(machine, both, costs, memory, plan))
    rows = []
    for name, (plan, _) in plans.items():
        on = {node for node, place in placement(plan).items() if place == device}
        # The prediction with the device's own times.
        own = planned(machine, both, profile, memory, placement(plan))
        answer = model.answer(machine, ["--units", f"cpu,{device}", "--precision", "full", *pins(placement(plan))], memory)
        peaks = [answer[2], *(peak for *_, peak in times[name])]
        rows.append({"plan": name, "nodes": len(on), "allNodes": len(plan["nodes"]), "predictedByItsProfile": plan["predicted"],
                     "weights": sum(weight_bytes(node) for node in plan["nodes"] if node["name"] in on),
                     "predicted": own["predicted"], "measured": statistics.median(p50 for p50, *_ in times[name]),
                     "least": min(least for _, least, _ in times[name]), "peak": max(peaks), **compared(answer, expected)})
        print(rows[-1], flush=True)
    return rows


def relieved(machine, model, device, limit, promised, expected):
    """The rows of a device that is asked for alone and of one that has less memory than it tells."""
    rows = []
    for title, memory in (("device alone", Memory.of(limit)), (f"device alone, tells {promised:g} times its memory",
                                                               Memory.of(limit, promised))):
        answer = model.answer(machine, ["--units", device, "--precision", "full"], memory)
        notes = [line for line in answer[3].splitlines() if "has room" in line or "memory" in line]
        rows.append({"request": title, "peak": answer[2], "notes": sorted(set(notes)), **compared(answer, expected)})
        print(rows[-1], flush=True)
    return rows


def measure(machine, model, interface, limits, options):
    device = f"{interface}:0"
    arguments = [model.path, "--precision", "full", "--threads", 2, *model.options]
    profile = machine.folder / f"{interface}.json"
    both = [*arguments, "--units", f"cpu,{device}"]
    machine.run("profile", *both, "--budget", options.budget, "--save", profile)
    fast = accelerated(profile, device, options.faster, machine.folder / f"{interface}-fast.json")
    held = sum(weight_bytes(node) for node in planned(machine, both, profile, Memory())["nodes"])
    expected = model.answer(machine, ["--units", "cpu", "--precision", "full"], Memory())
    entries = []
    for limit in [count << 20 for count in limits] or [held * options.share // 100]:
        entry = {"interface": interface, "weights": held, "limit": limit, "rows": measured_plans(
            machine, model, device, arguments, profile, fast, Memory.of(limit), options.faster, options.rounds, expected)}
        if options.relief:
            entry["relief"] = relieved(machine, model, device, limit, options.promised, expected)
        entries.append(entry)
    return entries


def markdown(result):
    def mebibytes(count):
        return f"{count / 2**20:.1f} MiB"
    rows = [report.heading(result, f"{result['model']}, 2 threads"), "",
            "The devices share the processor with the CPU, so their measured times say little about a card. At a load average above 1, "
            "measured times are noisy: the pace is a plan's least measured time over its prediction, divided by the same of the CPU alone, "
            "whose rounds alternate with it.", "",
            "| Device | Memory | Plan | Nodes on it | Weights on it | Peak there | Predicted by its profile | Predicted | Measured, median | "
            "Measured, least | Pace | Answer of the CPU | Logits, largest difference |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for entry in result["entries"]:
        alone = entry["rows"][0]
        for row in entry["rows"]:
            pace = row["least"] / row["predicted"] / (alone["least"] / alone["predicted"])
            rows.append(" | ".join([
                f"| {entry['interface']}", f"{mebibytes(entry['limit'])} of {mebibytes(entry['weights'])}", row["plan"],
                f"{row['nodes']} of {row['allNodes']}", mebibytes(row["weights"]), mebibytes(row["peak"]),
                report.milliseconds(row["predictedByItsProfile"]), report.milliseconds(row["predicted"]),
                report.milliseconds(row["measured"]), report.milliseconds(row["least"]), f"{pace:.2f}",
                "yes" if row["tokensAgree"] else "no", f"{row['logitsOff']:.1e}"]) + " |")
    relief = [(entry, row) for entry in result["entries"] for row in entry.get("relief", [])]
    if relief:
        rows += ["", "| Device | Memory | Asked for | Peak there | Answer of the CPU | Logits, largest difference | Notes |",
                 "|---|---|---|---|---|---|---|"]
    for entry, row in relief:
        rows.append(" | ".join([
            f"| {entry['interface']}", f"{mebibytes(entry['limit'])} of {mebibytes(entry['weights'])}", row["request"],
            mebibytes(row["peak"]), "yes" if row["tokensAgree"] else "no", f"{row['logitsOff']:.1e}", "<br>".join(row["notes"])]) + " |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Run a model on a device that is smaller than its weights.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--model", choices=("decoder", "vit_b16"), default="decoder")
    parser.add_argument("--layers", type=int, default=6, help="of the decoder")
    parser.add_argument("--width", type=int, default=768, help="of the decoder")
    parser.add_argument("--limits", default="", help="sizes of the device's memory in MiB, instead of --share")
    parser.add_argument("--share", type=int, default=25, help="the device's memory, in percent of the weights")
    parser.add_argument("--faster", type=float, default=50)
    parser.add_argument("--promised", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=10, help="seconds of the profile")
    parser.add_argument("--interfaces", default="vulkan,opencl")
    parser.add_argument("--relief", action=argparse.BooleanOptionalAction, default=True, help="the device asked for alone")
    parser.add_argument("--name", default="device-memory", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = quiet.warn()
    model = Images() if arguments.model == "vit_b16" else Decoder(arguments.layers, arguments.width)
    limits = [int(limit) for limit in arguments.limits.split(",") if limit]
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments.kelvin, folder)
        entries = [entry for interface in arguments.interfaces.split(",")
                   for entry in measure(machine, model, interface, limits, arguments)]
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load, "model": model.title,
              "faster": arguments.faster, "promised": arguments.promised, "entries": entries}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
