"""The output of GPU compilers: counts of the hot loops of kernels, and the limits that each kernel has to keep.

The hot loop is, of the innermost loops, the one with the most multiply-adds.
"""

import collections
import dataclasses
import pathlib
import re

import commands

AMD = {"navi21": "RDNA 2", "navi31": "RDNA 3", "polaris10": "GCN 4", "renoir": "GCN 5 APU"}
NVIDIA = {"turing": "Turing", "ampere": "Ampere", "ada": "Ada"}
ADRENO = {"adreno740": "Adreno 740"}
APPLE = {"apple-m1": "M1"}
INTEL = {"skl": "Gen 9", "tgllp": "Xe-LP"}
# The largest number of subgroups: of a SIMD unit of AMD's, a multiprocessor of NVIDIA's, a core of Adreno's.
SUBGROUPS = {
    "navi21": 16, "navi31": 16, "polaris10": 8, "renoir": 8, "turing": 32, "ampere": 48, "ada": 48, "adreno740": 16}
# The most threads of a core of Apple's.
THREADS = 1024

# Kernels of products.
PRODUCTS = ("convolution", "linear", "matmul", "attention", "product", "integer_product",
            "normalized_linear", "staged_product", "staged_integers")
# Kernels whose second constant is the number of rows computed at a time.
ROWS = ("linear",)
ONE_ROW = ("normalized_linear", "attention_row")
# Kernels that load a whole tile before anything else.
TILES = ("winograd_input", "winograd_output")

AMD_MULTIPLY_ADD = re.compile(r"v_(dual_)?(fma|fmac|fmaak|fmamk|mac|mad|madak|madmk|mad_mix|fma_mix)\w*_f(32|16)"
                              r"|v_pk_fma_f\d+|v_(fma|mad)_mix\w*|v_dot\w+|v_wmma\w+")
AMD_VECTOR_LOAD = re.compile(r"(buffer|global|flat|tbuffer|scratch)_load|image_\w*load")
AMD_SCALAR_LOAD = re.compile(r"s_(buffer_)?load_")
AMD_LOCAL_LOAD = re.compile(r"ds_(load|read)")
# A dot product of bytes is four multiply-adds.
DOT4 = re.compile(r"v_dot4|dp4a")
# Multiply-adds of a 16 by 16 by 16 product for each lane of a wave of 64.
MATRIX_MULTIPLY_ADDS = 16 ** 3 // 64
# Multiply-adds for each lane by instruction; a matrix instruction multiplies 16 by 8 by 16 for 32 lanes.
NVIDIA_MULTIPLY_ADDS = {"ffma": 1, "hfma2": 2, "idp4": 4, "hmma": 16 * 8 * 16 // 32, "imma": 16 * 8 * 32 // 32}
NVIDIA_BLOCK = re.compile(r"block\S* (\d+) \S+ \[([\d, ]*)\] -> \{")
NVIDIA_OPERATION = re.compile(r"(?:@\S+ +)?(?:[^=]*= )?([a-z][\w.]*)")


@dataclasses.dataclass
class Loop:
    multiply_adds: int = 0
    vector: int = 0
    scalar: int = 0
    local: int = 0
    instructions: int = 0


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
            loop.multiply_adds += bool(isMultiplyAdd) * (
                MATRIX_MULTIPLY_ADDS if operation.startswith("v_wmma") else 4 if DOT4.match(operation) else 1)
            loop.vector += bool(AMD_VECTOR_LOAD.match(operation))
            loop.scalar += bool(AMD_SCALAR_LOAD.match(operation))
            loop.local += bool(AMD_LOCAL_LOAD.match(operation))
            loop.instructions += 1
        return loop

    return hottest(count(lines) for lines in innermost(labelled(assembly, r"(BB\d+):", ";"), branch))


def intel_loop(assembly):
    def branch(line):
        found = re.search(r"\b(?:while|jmpi|goto)\b.*?\b(L\d+)", line)
        return found and found.group(1)

    def count(lines):
        loop = Loop()
        for line in lines:
            loop.multiply_adds += bool(re.search(r"\b(mad|mac|dp4a|dpas)\b", line)) * (4 if DOT4.search(line) else 1)
            loop.vector += bool(re.search(r"\bsends?\S* .*", line))
        return loop

    return hottest(count(lines) for lines in innermost(labelled(assembly, r"(L\d+):", "//"), branch))


def adreno_loop(assembly):
    def branch(line):
        found = re.search(r"\b(?:br|jump|bany|ball)\b.*#(l\d+)", line)
        return found and found.group(1)

    def count(lines):
        loop = Loop()
        for line in filter(None, lines):
            repeated = re.search(r"\(rpt(\d)\)", line)
            times = 1 + int(repeated.group(1)) if repeated else 1
            found = re.search(r"\b(mad\.f|dp4acc)", line)
            loop.multiply_adds += times * (0 if not found else 4 if DOT4.match(found.group()) else 1)
            loop.vector += bool(re.search(r"\b(isam|ldib|ldg|ldc)\b", line))
            loop.local += bool(re.search(r"\bldl\b", line))
            loop.instructions += times
        return loop

    return hottest(count(lines) for lines in innermost(labelled(assembly, r"(l\d+):", ";"), branch))


def nvidia_loop(listing):
    """NVIDIA's listing names the blocks before each block, and a loop's blocks need not follow each other: a loop is
    what reaches a branch back to its first block, without passing that."""
    before, lines = {}, {}
    for line in listing.split("\n"):
        if found := NVIDIA_BLOCK.match(line):
            block = int(found.group(1))
            before[block] = [int(number) for number in found.group(2).split(",") if number.strip()]
            lines[block] = []
        elif lines and not line.startswith("}"):
            lines[block].append(line.split("//")[0].strip())
    loops = {}
    for head, sources in before.items():
        for last in (source for source in sources if source >= head):
            members, rest = loops.setdefault(head, {head}), [last]
            while rest:
                if (member := rest.pop()) not in members:
                    members.add(member)
                    rest += before[member]

    def count(members):
        loop = Loop()
        for line in (line for member in members for line in lines[member] if line):
            operation = NVIDIA_OPERATION.match(line)
            name = operation.group(1) if operation else ""
            loop.multiply_adds += NVIDIA_MULTIPLY_ADDS.get(name.split(".")[0], 0)
            loop.vector += name.startswith("ld.global")
            loop.local += name.startswith("ld.shared")
            loop.instructions += 1
        return loop

    return hottest(
        count(members) for members in loops.values()
        if not any(other < members for other in loops.values()))


@dataclasses.dataclass
class Kernel:
    gpu: str
    name: str
    constants: str
    loop: Loop | None
    # Bytes or registers that do not fit into registers and go to memory.
    spills: int
    registers: int = 0
    # The share of the largest number of subgroups, or of Apple's threads, 0 to 1.
    occupancy: float = 1
    # AMD: cycles as the compiler estimates them; Adreno: cycles of waiting for loads.
    latency: int = 0
    # Of the whole kernel; 0 where the compiler does not count them.
    instructions: int = 0
    # Intel: of a subgroup.
    lanes: int = 0
    is_robust: bool = False
    dispatches: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    @property
    def is_product(self):
        """Whether operands are read for several results. A window over one channel at a time reads each for one."""
        has_one_column = self.name == "integer_product" and self.constants.split()[4:5] == ["1"]
        return self.name.startswith(PRODUCTS) and not has_one_column

    @property
    def has_one_row(self):
        """Whether each weight is read for one multiply-add."""
        return self.name.startswith(ONE_ROW) or self.name.startswith(ROWS) and self.constants.split()[1:2] == ["1"]

    @property
    def is_plain(self):
        """Whether this is the 1×1 convolution of float32 values, with two by two tiles."""
        return self.name == "convolution" and self.constants.split()[2:5] == ["2", "2", "0"]

    def behind(self):
        """Returns the limits that the kernel misses, in words."""
        missed = [f"spills {self.spills}"] if self.spills else []
        loop = self.loop or Loop()
        if self.is_product and self.gpu in {**AMD, **NVIDIA, **ADRENO}:
            loads = loop.vector if self.gpu in AMD else loop.vector + loop.local
            if loop.multiply_adds < (1 if self.has_one_row else 4) * loads:
                missed.append(f"{loop.multiply_adds} multiply-adds for {loads} loads")
        if self.gpu in NVIDIA and self.is_product and not self.has_one_row and not self.name.startswith("attention"):
            bar = 130 if self.is_plain else 170
            if loop.instructions * 64 > bar * loop.multiply_adds:
                missed.append(f"{loop.instructions} instructions for {loop.multiply_adds} multiply-adds")
        if self.gpu in APPLE and self.is_plain and self.constants.split()[6] == "255" and self.instructions > 260:
            missed.append(f"{self.instructions} instructions of at most 260")
        holdsTile = self.name.startswith(TILES)
        bar = 0.25 if holdsTile or self.is_product and (loop.local or loop.scalar) else 0.5
        if self.occupancy < bar:
            missed.append(f"occupancy {self.occupancy:.0%} of at least {bar:.0%}")
        return missed


def amd_properties(gpu, entry):
    statistics = entry["statistics"]
    return dict(
        loop=amd_loop(entry["assembly"]), spills=statistics["Spilled VGPRs"] + statistics["Scratch size"],
        registers=statistics["VGPRs"], latency=statistics["Latency"],
        occupancy=min(1, statistics["Subgroups per SIMD"] / SUBGROUPS[gpu]), instructions=statistics["Instructions"])


def nvidia_properties(gpu, entry):
    statistics = entry["statistics"]
    return dict(
        loop=nvidia_loop(entry["assembly"]), spills=statistics["Spills to memory"] + statistics["Fills from memory"],
        registers=statistics["Number of GPRs"], occupancy=statistics["Max warps/SM"] / SUBGROUPS[gpu],
        instructions=statistics["Instruction count"])


def adreno_properties(gpu, entry):
    statistics = entry["statistics"]
    return dict(
        loop=adreno_loop(entry["assembly"]), spills=statistics["STP Count"] + statistics["LDP Count"],
        registers=statistics["Registers used"], latency=statistics["Estimated cycles stalled on SY"],
        occupancy=statistics["Max Waves Per Core"] / SUBGROUPS[gpu], instructions=statistics["Instruction Count"])


def apple_properties(gpu, entry):
    statistics = entry["statistics"]
    return dict(
        loop=None, spills=statistics["Spills"] + statistics["Fills"], registers=statistics["GPRs"],
        occupancy=statistics["Threads"] / THREADS, instructions=statistics["Instructions"])


PROPERTIES = [(AMD, amd_properties), (NVIDIA, nvidia_properties), (ADRENO, adreno_properties),
              (APPLE, apple_properties)]


def vulkan_kernels(spirv, folder):
    """Returns the kernels in the logs of layer.c, named GPU.MODEL.jsonl."""
    names = commands.kernel_names(spirv)
    merged = {}
    gpus = {gpu: properties for gpus, properties in PROPERTIES for gpu in gpus}
    for path in sorted((folder / "logs").glob("*.jsonl"), key=lambda path: list(gpus).index(path.name.split(".")[0])):
        gpu, model = path.name.split(".")[:2]
        properties = gpus[gpu]
        log = commands.read(path, names)
        kernels = {}
        for number, pipeline in log.pipelines.items():
            constants = " ".join(str(value) for key, value in pipeline.constants.items() if key < 20)
            key = (gpu, pipeline.name, constants)
            if key not in merged:
                merged[key] = Kernel(*key, **properties(gpu, pipeline.entry), is_robust=log.is_robust)
            kernels[number] = merged[key]
        for entry in log.entries:
            if "dispatch" in entry:
                kernels[entry["dispatch"]].dispatches[model] += 1
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


def every_kernel(spirv, folder):
    return vulkan_kernels(spirv, pathlib.Path(folder)) + intel_kernels(pathlib.Path(folder))
