"""The results of GPU compilers for the kernels of networks, from the output folder of dev/gpu-shader-report.sh.

    table.py table SPIRV_FOLDER FOLDER     docs/gpu-shader-report.md
    table.py bars SPIRV_FOLDER FOLDER      the kernels beyond a limit, one per line; exits with 1 if there is one

The counts are those of the hot loop: of the innermost loops, the one with the most multiply-adds.
"""

import collections
import dataclasses
import json
import pathlib
import re
import struct
import sys

AMD = {"navi21": "RDNA 2", "navi31": "RDNA 3", "polaris10": "GCN 4", "renoir": "GCN 5 APU"}
INTEL = {"skl": "Gen 9", "tgllp": "Xe-LP"}
# The largest number of subgroups of a SIMD unit.
WAVES = {"navi21": 16, "navi31": 16, "polaris10": 8, "renoir": 8}
MODELS = {"mobilenet_v2": "MobileNetV2", "resnet50": "ResNet-50", "vit_b16": "ViT-B/16", "unet": "U-Net",
          "matmuls": "products", "perceptron_float16": "perceptron in float16"}

AMD_MULTIPLY_ADD = re.compile(r"v_(dual_)?(fma|fmac|fmaak|fmamk|mac|mad|madak|madmk|mad_mix|fma_mix)\w*_f(32|16)"
                              r"|v_pk_fma_f\d+|v_(fma|mad)_mix\w*|v_dot\w+|v_wmma\w+")
AMD_VECTOR_LOAD = re.compile(r"(buffer|global|flat|tbuffer|scratch)_load|image_\w*load")
AMD_SCALAR_LOAD = re.compile(r"s_(buffer_)?load_")
AMD_LOCAL_LOAD = re.compile(r"ds_(load|read)")
# Multiply-adds of a 16 by 16 by 16 product for each lane of a wave of 64.
MATRIX_MULTIPLY_ADDS = 16 ** 3 // 64
OP_FUNCTION = 54

# Kernels of products, with their bar: four multiply-adds for each vector load.
PRODUCTS = ("convolution", "cooperative", "linear", "matmul", "attention", "product")

# Kernels whose second constant is the number of rows computed at a time.
ROWS = ("linear",)

# Kernels that load a whole tile before anything else.
TILES = ("winograd_input", "winograd_output")


@dataclasses.dataclass
class Loop:
    multiply_adds: int = 0
    vector: int = 0
    scalar: int = 0
    local: int = 0


def innermost(blocks, branches):
    """Returns the lines of each innermost loop. `blocks`: label to lines, in order. `branches`: returns the label
    that a line may branch to, or None."""
    place = {label: index for index, label in enumerate(blocks)}
    spans = {(place[target], index) for index, lines in enumerate(blocks.values()) for line in lines
             if (target := branches(line)) in place and place[target] <= index}
    every = list(blocks.values())
    for span in spans:
        if not any(other != span and span[0] <= other[0] and other[1] <= span[1] for other in spans):
            yield [line for lines in every[span[0]:span[1] + 1] for line in lines]


def labelled(text, label, comment):
    """Returns label to lines."""
    blocks = {"": []}
    for line in text.split("\n"):
        if found := re.match(label, line):
            blocks[found.group(1)] = []
        else:
            blocks[next(reversed(blocks))].append(line.split(comment)[0].strip())
    return blocks


def hottest(loops):
    return max(loops, key=lambda loop: (loop.multiply_adds, loop.vector + loop.local), default=None)


def amd_loop(assembly):
    def branch(line):
        found = re.match(r"s_c?branch\w* (BB\d+)", line)
        return found and found.group(1)

    def count(lines):
        loop = Loop()
        # The two halves of a dual instruction are two operations.
        for operation in (part.split()[0] for line in lines for part in line.split("::") if part.split()):
            isMultiplyAdd = AMD_MULTIPLY_ADD.fullmatch(re.sub(r"_(e32|e64|dpp|sdwa)$", "", operation))
            loop.multiply_adds += bool(isMultiplyAdd) * (MATRIX_MULTIPLY_ADDS if operation.startswith("v_wmma") else 1)
            loop.vector += bool(AMD_VECTOR_LOAD.match(operation))
            loop.scalar += bool(AMD_SCALAR_LOAD.match(operation))
            loop.local += bool(AMD_LOCAL_LOAD.match(operation))
        return loop

    return hottest(count(lines) for lines in innermost(labelled(assembly, r"(BB\d+):", ";"), branch))


def intel_loop(assembly):
    def branch(line):
        found = re.search(r"\b(?:while|jmpi|goto)\b.*?\b(L\d+)", line)
        return found and found.group(1)

    def count(lines):
        loop = Loop()
        for line in lines:
            loop.multiply_adds += bool(re.search(r"\b(mad|mac|dp4a|dpas)\b", line))
            loop.vector += bool(re.search(r"\bsends?\S* .*", line))
        return loop

    return hottest(count(lines) for lines in innermost(labelled(assembly, r"(L\d+):", "//"), branch))


def function_hash(path):
    """FNV-1a of a module's words from its first function on, as layer.c has it."""
    words = struct.unpack(f"<{path.stat().st_size // 4}I", path.read_bytes())
    at = 5
    while at < len(words) and words[at] & 0xFFFF != OP_FUNCTION:
        at += words[at] >> 16
    value = 0xCBF29CE484222325
    for byte in struct.pack(f"<{len(words) - at}I", *words[at:]):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


@dataclasses.dataclass
class Kernel:
    gpu: str
    name: str
    constants: str
    loop: Loop | None
    spills: int
    # AMD: vector registers, occupancy 0...1, cycles of latency as the compiler estimates them; Intel: lanes.
    registers: int = 0
    occupancy: float = 1
    latency: int = 0
    lanes: int = 0
    dispatches: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    @property
    def is_product(self):
        return self.name.startswith(PRODUCTS)

    @property
    def per_load(self):
        """Returns multiply-adds for a vector load. One row has a multiply-add for each weight."""
        return 1 if self.name.startswith(ROWS) and self.constants.split()[1] == "1" else 4

    def behind(self):
        """Returns the limits that the kernel misses, in words."""
        missed = [f"spills {self.spills}"] if self.spills else []
        loop = self.loop or Loop()
        if self.is_product and self.gpu in AMD and loop.multiply_adds < self.per_load * loop.vector:
            missed.append(f"{loop.multiply_adds} multiply-adds for {loop.vector} vector loads")
        holdsTile = self.name.startswith(TILES)
        bar = 0.25 if holdsTile or self.is_product and (loop.local or loop.scalar) else 0.5
        if self.occupancy < bar:
            missed.append(f"occupancy {self.occupancy:.0%} of at least {bar:.0%}")
        return missed


def amd_kernels(spirv, folder):
    names = {function_hash(path): path.stem for path in pathlib.Path(spirv).glob("*.spv")}
    merged = {}
    for log in sorted((folder / "logs").glob("*.jsonl")):
        gpu, model = log.name.split(".")[:2]
        pipelines = {}
        for entry in map(json.loads, log.read_text().splitlines()):
            if "dispatch" in entry:
                pipelines[entry["dispatch"]].dispatches[model] += 1
                continue
            constants = " ".join(str(value) for key, value in entry["constants"].items() if int(key) < 20)
            key = (gpu, names.get(entry["function"], entry["function"]), constants)
            if key not in merged:
                statistics = entry["statistics"]
                merged[key] = Kernel(
                    *key, amd_loop(entry["assembly"]), statistics["Spilled VGPRs"] + statistics["Scratch size"],
                    registers=statistics["VGPRs"], latency=statistics["Latency"],
                    occupancy=min(1, statistics["Subgroups per SIMD"] / WAVES[gpu]))
            pipelines[entry["pipeline"]] = merged[key]
    return list(merged.values())


def intel_kernels(folder):
    merged = {}
    for made in sorted((folder / "programs").glob("*/*.*/")):
        gpu = made.suffix[1:]
        if gpu not in INTEL:
            continue
        spills = {name: int(count) for name, count in re.findall(
            r"kernel (\w+)\s+compiled SIMD\d+ allocated \d+ regs and spilled around (\d+)", (made / "log").read_text())}
        for file in sorted((made / "dump").glob("*_KernelHeap.asm")):
            name = file.name.removesuffix("_KernelHeap.asm")
            text = file.read_text()
            widths = collections.Counter(
                int(width) for width in re.findall(r"\b(?:mad|mul|add|mov)\w* \((\d+)\|M0\)", text))
            lanes = max((width for width in widths if width >= 8), key=lambda width: widths[width], default=0)
            if (gpu, name) not in merged:
                merged[gpu, name] = Kernel(gpu, name, "", intel_loop(text), spills.get(name, 0), lanes=lanes)
            merged[gpu, name].dispatches[made.parent.name] += 1
    return list(merged.values())


def used(kernel):
    return ", ".join(f"{MODELS[model]} {count}" for model, count in kernel.dispatches.items())


def table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "|".join("---" if head in ("kernel", "used by", "beyond a limit") else "--:" for head in heads) + "|")
    for cells in rows:
        print("| " + " | ".join(map(str, cells)) + " |")


def print_table(amd, intel):
    behind = [kernel for kernel in amd + intel if kernel.behind()]
    print("# Compiler reports of GPU kernels\n")
    print("This page lists properties of Kelvin's kernels as GPU compilers report them. `dev/gpu-shader-report.sh table` "
          "writes it; it needs no GPU and measures no time. AMD's compiler is Mesa's RADV 25.0.7 on a replacement of the "
          "kernel driver, Intel's is `ocloc` 22.43. Counts are per lane of the hot loop: multiply-adds, and loads into "
          "vector registers, through the scalar path (once for all lanes) and from local memory. Latency is the compiler's "
          "estimate in cycles for a whole kernel, with its own estimate of iterations.\n")
    print("Limits: no kernel spills registers. Products have at least 4 multiply-adds per vector load; products of one row,"
          " which read each weight for one multiply-add, have at least 1. Occupancy is at least 50 %. It is at least 25 % "
          "for products with scalar or local operands, and for kernels with a tile in registers, whose loads overlap. Loads"
          " on Intel are messages of unknown width, so they have no limit. "
          f"**{len(amd) + len(intel)} kernels, {len(behind)} beyond a limit.**\n")
    print("Dispatches of an inference: " + ", ".join(
        f"{name} {sum(kernel.dispatches[model] for kernel in amd if kernel.gpu == next(iter(AMD)))}"
        for model, name in MODELS.items()) + ".")
    for gpu, generation in AMD.items():
        print(f"\n## {generation} ({gpu}), Vulkan\n")
        table(["kernel", "registers", "spills", "occupancy", "multiply-adds", "vector", "scalar", "local", "latency",
               "used by", "beyond a limit"],
              [[f"`{kernel.name}` {kernel.constants}", kernel.registers, kernel.spills, f"{kernel.occupancy:.0%}"]
               + ([kernel.loop.multiply_adds, kernel.loop.vector, kernel.loop.scalar, kernel.loop.local]
                  if kernel.loop else ["–"] * 4)
               + [kernel.latency, used(kernel), "; ".join(kernel.behind())]
               for kernel in sorted(amd, key=lambda kernel: (kernel.name, kernel.constants)) if kernel.gpu == gpu])
    for gpu, generation in INTEL.items():
        print(f"\n## {generation} ({gpu}), OpenCL\n")
        table(["kernel", "lanes", "spills", "multiply-adds", "messages", "used by", "beyond a limit"],
              [[f"`{kernel.name}`", kernel.lanes, kernel.spills]
               + ([kernel.loop.multiply_adds, kernel.loop.vector] if kernel.loop else ["–"] * 2)
               + [", ".join(MODELS[model] for model in kernel.dispatches), "; ".join(kernel.behind())]
               for kernel in sorted(intel, key=lambda kernel: kernel.name) if kernel.gpu == gpu])


def print_bars(amd, intel):
    missed = [kernel for kernel in amd + intel if kernel.behind()]
    for kernel in missed:
        print(f"{kernel.gpu} {kernel.name} {kernel.constants}: {'; '.join(kernel.behind())} ({used(kernel)})")
    print(f"{len(amd) + len(intel)} kernels, {len(missed)} beyond a limit")
    return 1 if missed else 0


if __name__ == "__main__":
    command, spirv, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    sys.exit({"table": print_table, "bars": print_bars}[command](amd_kernels(spirv, folder), intel_kernels(folder)))
