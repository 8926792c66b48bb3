"""The results of GPU compilers for the kernels of networks, from the scratch folder of dev/gpu-shader-report.sh.

    table.py table SPIRV_FOLDER FOLDER     docs/gpu-shader-report.md
    table.py bars SPIRV_FOLDER FOLDER      what is beyond a limit, one per line; exits with 1 if there is anything
"""

import collections
import re
import sys

import compilers
import estimate
from page import table

COMPILERS = [
    ("AMD, Vulkan", compilers.AMD, "Mesa's RADV 25.0.7"), ("NVIDIA, Vulkan", compilers.NVIDIA, "Mesa's NVK 26.2"),
    ("Qualcomm, Vulkan", compilers.ADRENO, "Mesa's Turnip 26.2"), ("Apple, Vulkan", compilers.APPLE,
                                                                    "Mesa's Honeykrisp 26.2"),
    ("Intel, OpenCL", compilers.INTEL, "`ocloc` 22.43")]

INTRODUCTION = """# Compiler reports of GPU kernels

This page lists properties of Kelvin's kernels as GPU compilers report them, and times on cards that are estimated from \
them. `dev/gpu-shader-report.sh table` writes it. It needs no GPU and measures no time: Mesa's compilers run on \
replacements of the kernel drivers, which compute nothing.
"""

LIMITS = """## Limits

- No kernel spills registers, with any compiler.
- Products have at least 4 multiply-adds for each load, because a unit starts four times as many multiply-adds as \
loads. Products of one row, which read each weight for one multiply-add, have at least 1. On NVIDIA and Adreno, loads \
are those from global and local memory. On AMD only vector loads count, since a scalar load serves all lanes. Loads on \
Intel have an unknown width, and Apple's compiler shows no listing, so there is no such limit.
- On NVIDIA the 1×1 convolution takes at most 130 instructions for 64 multiply-adds: 10 loads, their addresses and the \
loop. Other products take at most 170, as windows and conversions from float16 cost more. Attention and products of \
one row have no such limit, since exponentials and memory bound them.
- On Apple the 1×1 convolution without an activation takes at most 260 instructions, those outside the loop included.
- Occupancy is at least 50 %, so that loads of some subgroups overlap with arithmetic of others. It is at least 25 % for \
products with scalar or local operands, and for kernels with a tile in registers, whose own loads overlap. A thread on \
Intel always has 128 registers, so there is no such limit.
- A product of more than 32 steps has at least two groups for each of 28, 84 and 132 units. Each step waits for the one \
before, so that a card is otherwise idle while a lane works through its chain.
- A product of more than 10 million operations loads at most 0.1 byte from the level-2 cache for an operation. Cards \
compute ten times as many operations as their caches deliver bytes. If 1.5 times its operands and results are more, it \
loads at most these: memory then takes longer than the cache, on all cards below. This concerns products of one row, \
and those with few output channels.
- An inference takes no longer than the last column of the estimated times.
"""

ARITHMETIC = """## Estimated times

The dispatches of an inference, or of a decoder's token, are those that Kelvin gives a discrete card (RADV for RDNA 3). \
The time of a dispatch is a launch and the longest of five parts, which overlap:

- chains: steps × (latency of the level-2 cache + instructions of the lane in a step) × rounds that a unit needs for \
its groups
- loads: bytes that the lanes of the busiest unit load into registers / bytes a cycle
- arithmetic: operations of the busiest unit / operations a cycle
- cache: bytes that all groups load / bytes a second of the level-2 cache. Lanes beyond the edge of a product load what \
others of the group do, and add nothing.
- memory: bytes of operands and results, each once / bytes a second of the memory

A load with checked bounds adds 36 instructions on NVIDIA, as its listing has it. The formulas for each kernel are in \
`dev/gpu-shader-report/estimate.py`; figures of the cards are below. Expect a factor of two either way.

The times do not include the host, which has a column of its own: about 40 µs for each wait, and copies over the bus at \
about 20 GB/s. This is for a discrete card whose memory the host can write.

Chains are the products that miss the limit of steps and groups on cards of so many units. The last columns are bytes \
of the level-2 cache for an operation of all products, and the number of large products above the limit.
"""

LOW = """At precision `low`, float32 is stored as float16, and products with constant weights use matrices of float16, which \
both cards have (RADV gives them to RDNA 3):
"""


def used(kernel):
    return ", ".join(f"{estimate.MODELS[model]} {count}" for model, count in kernel.dispatches.items())


def joined(kernels, gpus, value):
    """Returns a value of the kernels of several GPUs; one where all are the same, and a dash for a GPU without it."""
    texts = {kernel.gpu: str(value(kernel)) for kernel in kernels}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return " / ".join(texts.get(gpu, "–") for gpu in gpus)


def merged(kernels, gpus):
    """Returns the limits that kernels of several GPUs miss, each with the GPUs unless all miss it."""
    missed = collections.defaultdict(list)
    for kernel in kernels:
        for text in kernel.behind():
            missed[text].append(gpus[kernel.gpu])
    return "; ".join(
        text if len(names) == len(gpus) else f"{', '.join(names)}: {text}" for text, names in missed.items())


def worst(kernels):
    """Returns the kernels with the lowest occupancy, and with the most instructions for a multiply-add."""
    found = []
    least = min(kernels, key=lambda kernel: kernel.occupancy)
    if least.occupancy < 1:
        found.append(f"occupancy {least.occupancy:.0%} (`{least.name}`)")
    products = [
        kernel for kernel in kernels
        if kernel.is_product and not kernel.has_one_row and kernel.loop and kernel.loop.multiply_adds
        and kernel.loop.instructions]
    if products:
        most = max(products, key=lambda kernel: kernel.loop.instructions / kernel.loop.multiply_adds)
        found.append(f"{most.loop.instructions} instructions for {most.loop.multiply_adds} multiply-adds (`{most.name}`)")
    spilling = max(kernels, key=lambda kernel: kernel.spills)
    found.append(f"spills {spilling.spills} (`{spilling.name}`)" if spilling.spills else "no spills")
    return "; ".join(found)


def print_summary(kernels, networks):
    behind = [kernel for kernel in kernels if kernel.behind()]
    slow = [network for network in networks if network.behind()]
    print("## Summary\n")
    print(f"**{len(kernels)} kernels, {len(behind)} beyond a limit; {len(networks)} networks, {len(slow)} beyond a "
          "limit.**\n")
    rows = []
    for title, gpus, compiler in COMPILERS:
        for gpu, generation in gpus.items():
            own = [kernel for kernel in kernels if kernel.gpu == gpu]
            if own:
                checks = "–" if gpu in compilers.INTEL else "yes" if any(kernel.is_robust for kernel in own) else "no"
                rows.append([f"{generation}, {compiler}", len(own), sum(bool(kernel.behind()) for kernel in own), checks,
                             worst(own)])
    table(["compiler", "kernels", "over", "checked bounds", "worst"], rows)
    print("\nChecked bounds are those that the program asks the driver for (`robustBufferAccess`).\n")
    if behind or slow:
        print("Beyond a limit today, with the number of kernels:\n")
    for title, gpus, _ in COMPILERS:
        kinds = collections.defaultdict(list)
        for kernel in behind:
            for text in kernel.behind() if kernel.gpu in gpus else []:
                # Kernels that differ in the number of instructions are one entry.
                found = re.match(r"(\d+)( instructions.*)", text)
                kinds[kernel.name, found.group(2) if found else text].append(
                    (gpus[kernel.gpu], int(found.group(1)) if found else None))
        for (name, text), found in sorted(kinds.items()):
            counts = sorted({count for _, count in found if count is not None})
            print(f"- `{name}`: {' to '.join(map(str, dict.fromkeys(counts[:1] + counts[-1:])))}{text} ("
                  + ", ".join(f"{gpu} {count}" for gpu, count in collections.Counter(gpu for gpu, _ in found).items())
                  + ")")
    if slow:
        print(f"- networks: {', '.join(network.title for network in slow)} ([estimated times](#estimated-times))")
    print()


def print_compiler(title, gpus, compiler, kernels):
    rows = collections.defaultdict(list)
    for kernel in kernels:
        if kernel.gpu in gpus:
            rows[kernel.name, kernel.constants].append(kernel)
    if not rows:
        return
    print(f"\n## {title}: {', '.join(gpus.values())}\n")
    notes = [f"{compiler}."]
    if len(gpus) > 1:
        notes.append("Where GPUs differ, a cell has a value for each.")
    if gpus is compilers.APPLE:
        notes.append("Instructions are those of the whole kernel.")
    elif gpus is not compilers.INTEL:
        notes.append("Multiply-adds, loads and instructions are those of a lane in the hot loop.")
    if gpus is compilers.AMD:
        notes.append("Latency is the compiler's estimate in cycles for a whole kernel, with its own guess of iterations.")
    elif gpus is compilers.ADRENO:
        notes.append("Latency is the compiler's estimate of the cycles that wait for loads.")
    print(" ".join(notes) + "\n")

    def loops(field):
        return lambda kernel: getattr(kernel.loop, field) if kernel.loop else "–"

    columns = {"spills": lambda kernel: kernel.spills}
    if gpus is compilers.INTEL:
        columns |= {"lanes": lambda kernel: kernel.lanes, "multiply-adds": loops("multiply_adds"),
                    "messages": loops("vector")}
    else:
        columns |= {"registers": lambda kernel: kernel.registers, "occupancy": lambda kernel: f"{kernel.occupancy:.0%}"}
        if gpus is compilers.APPLE:
            columns |= {"instructions": lambda kernel: kernel.instructions}
        else:
            columns |= {"multiply-adds": loops("multiply_adds"), "vector": loops("vector")}
        if gpus is compilers.AMD:
            columns |= {"scalar": loops("scalar")}
        if gpus is not compilers.APPLE:
            columns |= {"local": loops("local"), "instructions": loops("instructions")}
        if gpus is compilers.AMD or gpus is compilers.ADRENO:
            columns |= {"latency": lambda kernel: kernel.latency}
    table(["kernel", *columns, "used by", "beyond a limit"],
          [[f"`{name}` {constants}".strip()] + [joined(same, gpus, value) for value in columns.values()]
           + [used(same[0]), merged(same, gpus)] for (name, constants), same in sorted(rows.items())])


def print_table(kernels, networks, low):
    print(INTRODUCTION)
    print_summary(kernels, networks)
    print(LIMITS)
    if networks:
        print(ARITHMETIC)
        estimate.print_counts(networks)
        print()
        estimate.print_estimates(networks)
        print("\n" + LOW)
        estimate.print_low(networks, low)
        print("\nThe longest dispatch of each network on the fastest card:\n")
        estimate.print_longest(networks, next(iter(estimate.CARDS)))
        print("\nThe figures of the cards:\n")
        estimate.print_cards()
    for title, gpus, compiler in COMPILERS:
        print_compiler(title, gpus, compiler, kernels)


def print_bars(kernels, networks, _):
    missed = [kernel for kernel in kernels if kernel.behind()]
    for kernel in missed:
        print(f"{kernel.gpu} {kernel.name} {kernel.constants}: {'; '.join(kernel.behind())} ({used(kernel)})")
    slow = [network for network in networks if network.behind()]
    for network in slow:
        print(f"{network.name}: {'; '.join(network.behind())}")
    print(f"{len(kernels)} kernels, {len(missed)} beyond a limit; {len(networks)} networks, {len(slow)} beyond a limit")
    return 1 if missed or slow else 0


if __name__ == "__main__":
    command, spirv, folder = sys.argv[1:]
    print_report = {"table": print_table, "bars": print_bars}[command]
    sys.exit(print_report(
        compilers.every_kernel(spirv, folder),
        *(list(estimate.networks(spirv, estimate.logs(folder, precision))) for precision in ("full", "low"))))
