"""Times of networks on cards, estimated from the dispatches in logs of layer.c: what each dispatch loads and computes, and
the largest of the times that its parts take on a card. A factor of two either way is to be expected.

    estimate.py SPIRV_FOLDER LOG…    a table of estimates, with their parts
"""

import collections
import dataclasses
import pathlib
import sys

import commands
import compilers
from cards import CARDS
from page import table

MODELS = {"mobilenet_v2": "MobileNetV2", "resnet50": "ResNet-50", "vit_b16": "ViT-B/16", "unet": "U-Net",
          "minilm": "MiniLM", "resnet50_int8": "ResNet-50 in int8", "gpt2_shared": "a token of GPT-2",
          "matmuls": "products", "perceptron_float16": "perceptron in float16"}

# Instructions that checked bounds cost for each vector that is loaded, by NVIDIA's compiler for Ampere: four loads of an
# element instead of one, each with a comparison, a selection and addresses.
CHECKED_LOAD = 36


# The host, on a discrete card: milliseconds of a submission that is waited for, and bytes a millisecond of the bus.
WAIT, BUS = 0.04, 20e6
# Milliseconds that an inference may take.
LIMITS = {
    ("mobilenet_v2", "H100"): 0.35, ("resnet50", "H100"): 0.8, ("vit_b16", "H100"): 2.2,
    ("mobilenet_v2", "RTX 3060"): 0.45, ("resnet50", "RTX 3060"): 1.6, ("vit_b16", "RTX 3060"): 6}
# The parts of a time.
KINDS = ("launches", "chains", "loads", "arithmetic", "cache", "memory")
# Cards of few, more and many units; a product that is a chain of more than this many steps has at least two groups a unit.
UNITS = (28, 84, 132)
STEPS = 32
# Cards with matrices of float16, for which times at precision low are printed too.
LOW = ("H100", "RTX 3060")
# Bytes that a product of more than LARGE floating-point operations loads from the level-2 cache for each of them.
LARGE, BYTES_PER_FLOP = 10e6, 0.1
# A product that loads its operands and results so many times at most waits longer for memory than for the cache, on any card.
MOST_LOADED = 1.5


@dataclasses.dataclass(frozen=True)
class Work:
    """The work of a dispatch. Loads and multiply-adds are those of one lane in one step; a step waits for the one before."""

    groups: int
    flops: float        # of all lanes, those beyond the result too
    useful: float       # of the operator
    cached: float       # bytes from the level-2 cache
    stored: float       # bytes of operands and results in memory, each once
    steps: float
    vectors: float      # of four elements, loaded by each lane for itself
    shared: float       # loaded by all lanes of a group from one place
    multiply_adds: float
    lanes: int = 64     # of a group
    rate: str = "flops"   # of a card, at which it computes


def convolution(constants, grid, push, size, groups):
    blocks, positions = constants.get(2, 2), constants.get(3, 2)
    _, group_blocks, _, _, channels, count = push[:6]
    taps = push[11] * push[12] if constants.get(4, 0) else 1
    steps = group_blocks * taps
    inputs = push[0] * 4 * push[6] * max(1, count // max(1, push[7]))
    weights = channels * group_blocks * 4 * taps
    return Work(
        groups, groups * 64 * steps * 32 * blocks * positions, 2 * count * weights,
        groups * steps * 4 * size * (64 * positions + 4 * blocks), (inputs + weights + count * channels) * size, steps,
        positions, 4 * blocks, 16 * blocks * positions)


def linear(constants, grid, push, size, groups):
    rows, depth, outputs, columns = push[:4]
    lanes, tile = constants.get(0, 64), constants.get(1, 1)
    slices = lanes // columns
    steps = -(-depth // (4 * slices))
    weights = depth * outputs * size
    return Work(
        groups, groups * lanes * steps * 8 * tile, 2 * rows * depth * outputs,
        weights * max(1, rows // tile) + groups * steps * slices * 16 * tile, weights, steps, 1 + 4 * tile, 0, 4 * tile,
        lanes)


def normalized_linear(constants, grid, push, size, groups):
    """Statistics of the row in each group, which keeps it in local memory if it fits, then the product."""
    rows, depth, outputs, columns = push[:4]
    lanes = constants.get(0, 64)
    slices = lanes // columns
    steps, turns = -(-depth // (4 * slices)), -(-depth // lanes)
    weights = depth * outputs * size
    return Work(
        groups, groups * lanes * (steps * 8 + turns * 8), 2 * rows * depth * outputs,
        weights * rows + groups * depth * 16, weights, steps + 3 * turns, 1, 0, 4, lanes)


def depthwise(constants, grid, push, size, groups):
    taps, positions = constants.get(2, 3) * constants.get(3, 3), constants.get(8, 1) * constants.get(9, 2)
    _, planes, height, width, output_height, output_width = push[:6]
    return Work(
        groups, groups * 64 * taps * positions * 8, 8 * planes * output_height * output_width * taps,
        groups * 64 * taps * positions * 2 * size, planes * (height * width + output_height * output_width) * 4 * size,
        2, taps * positions / 2, taps / 2, taps * positions * 2)


def attention(constants, grid, push, size, groups):
    """A block of keys has three steps: scores, their largest, values."""
    planes, _, _, queries, keys = push[:5]
    block, width = constants.get(2, 8), constants.get(4, 16) + constants.get(5, 16)
    return Work(
        groups, groups * 64 * keys * width * 8, 8 * planes * queries * keys * width, groups * keys * width * 4 * size,
        planes * (queries + 2 * keys) * constants.get(4, 16) * 8 * size, -(-keys // block) * 3,
        constants.get(4, 16) / 3, block * width / 3, block * width * 4 / 3)


def attention_staged(constants, grid, push, size, groups):
    """A group has 32 queries, which are read first. A slab has two steps: its keys are read, then its values.
    Groups that share the keys write sums of their own, in float32."""
    planes, _, _, queries, keys = push[:5]
    slab, width, values = (constants.get(key, 16) for key in (1, 2, 3))
    lanes, parts = constants.get(0, 128), push[25]
    slabs = -(-keys // (slab * parts))
    steps, vectors = 1 + 2 * slabs, slab * (width + values)
    sums = parts * planes * queries * (4 * values + 2) * 4 if parts > 1 else 0
    return Work(
        groups, groups * 32 * slabs * vectors * 8, 8 * planes * queries * keys * (width + values),
        groups * (32 * width + slabs * vectors) * 4 * size + sums,
        planes * (queries + keys) * (width + values) * 4 * size + sums, steps, vectors / 2 / lanes, 0,
        64 * vectors / lanes, lanes)


def attention_row(constants, grid, push, size, groups, first=1):
    """As many keys at a time as a group has lanes: their scores, a vector of the query and of four keys a step; the largest,
    through local memory; their values, four vectors a step. All keys count as seen."""
    planes, _, sharing, queries, keys, parts, columns = push[:7]
    width, values, turns = (constants.get(first + place, 64) for place in range(3))
    lanes = constants.get(0, 64)
    blocks = -(-keys // (lanes * parts))
    steps = blocks * (-(-width // 16) + 1 + turns * -(-columns // 4))
    sums = parts * planes * queries * (values + 2) * 4 if parts > 1 else 0
    return Work(
        groups, groups * lanes * steps * 32, 2 * planes * queries * keys * (width + values),
        planes * queries * keys * (width + values) * size + sums,
        planes // sharing * keys * (width + values) * size + sums, steps, 5, 0, 16, lanes)


def attention_row_limited(constants, grid, push, size, groups):
    return attention_row(constants, grid, push, size, groups, first=3)


def attention_sum(constants, grid, push, size, groups):
    """Largest scores of the parts, then their totals and sums, which are still in the level-2 cache."""
    count, length, parts = push[0], push[1], push[5]
    return Work(
        groups, groups * 64 * parts * 16, 0, count * length * (12 * parts + size), count * length * size, 2 * parts, 0.75,
        0, 8)


def matmul(constants, grid, push, size, groups):
    rows, depth, columns, row_tiles, column_tiles, tiles = push[:6]
    height = constants.get(2, 64)
    width = 64 // (height // 8) * 4
    steps, matrices = -(-depth // 8), tiles // max(1, row_tiles * column_tiles)
    return Work(
        groups, groups * 64 * steps * 512, 2 * rows * depth * columns * matrices,
        groups * steps * 8 * (height + width) * size,
        (rows * depth + depth * columns + rows * columns) * matrices * size, steps, (height + width) / 32, 0, 256)


def staged(planes, height, positions, tiles, columns, packed=1):
    """Positions and columns that the tiles of a product have for each element of the depth. Lanes beyond its edges load what
    others do, and weights are in tiles of 16 columns. A position counts as `packed` columns."""
    return planes * (packed * positions * tiles + -(-positions // height) * -(-columns // 16) * 16)


def staged_product(constants, grid, push, size, groups, slab=16, each=1, rate="flops"):
    """A step is a slab of the depth, of instructions of `each` multiply-adds. Groups that share the depth write sums of
    their own, in float32."""
    lanes, height, width, pixels, blocks = (constants.get(key, 64) for key in range(5))
    _, group_blocks, _, own_blocks, channels, positions, tiles, shares, steps, input_area, output_area = push[:11]
    transposed = constants.get(9, 0)
    taps = -(-push[14] // push[16]) * -(-push[15] // push[17]) if transposed else push[14] * push[15]
    weights = channels * group_blocks * 4 * push[14] * push[15]
    inputs = push[0] * 4 * input_area * max(1, positions // max(1, output_area))
    sums = shares * positions * channels * 4 if shares > 1 else 0
    phases = push[16] * push[17] if transposed else 1
    planes = phases * max(1, channels // (4 * own_blocks))
    results = phases * positions * channels * size
    return Work(
        groups, groups * lanes * steps * 8 * slab * pixels * blocks, 2 * positions * weights,
        staged(planes, height, positions, tiles, 4 * own_blocks) * group_blocks * 4 * taps * size + sums,
        (inputs + weights) * size + (0 if sums else results), steps, slab / 4 * (height + width) / lanes, 0,
        4 * slab * pixels * blocks / each, lanes, rate)


def staged_product_narrow(*arguments):
    return staged_product(*arguments, each=2, rate="narrow")


def staged_product_cooperative(*arguments):
    return staged_product(*arguments, slab=32, each=16, rate="matrices")


def staged_product_windows(constants, grid, push, size, groups):
    """A group reads what its windows see, four vectors a lane and step. Then a step is a slab of weights."""
    lanes, _, _, width, pixels, seen = (constants.get(key, 64) for key in range(6))
    blocks, _, channels, rectangles, down, across, *output = push[:8]
    input_area, taps = push[8] * push[9], push[10] * push[11]
    depth, images = 4 * blocks * taps, rectangles // (down * across)
    reads, slabs = -(-seen // (4 * lanes)), -(-depth // 16)
    positions, steps = images * output[0] * output[1], reads + slabs
    return Work(
        groups, groups * lanes * slabs * 128 * pixels, 2 * positions * channels * depth,
        groups * (4 * seen + depth * width) * size,
        (images * 4 * blocks * input_area + depth * channels + positions * channels) * size, steps,
        (seen + 4 * width * slabs) / lanes / steps, 0, 64 * pixels * slabs / steps, lanes)


def staged_sum(constants, grid, push, size, groups):
    """Four sums are loaded at a time. They are still in the level-2 cache."""
    count, shares = push[:2]
    return Work(groups, groups * 256 * shares, 0, count * (16 * shares + 4 * size), count * 4 * size, 1 + -(-shares // 4),
                4, 0, 16)


def integer_product(constants, grid, push, size, groups):
    """Bytes are loaded a word each, so that a multiply-add takes 1.9 instructions, as Ampere's compiler has it."""
    positions, blocks, together = constants.get(1, 4), constants.get(6, 2), constants.get(9, 1)
    _, count, _, _, split, channels, columns = push[:7]
    depth, height, width, *kernel = push[10:16]
    taps = kernel[0] * kernel[1] * kernel[2]
    steps = -(-channels // 4) * taps // together
    loads = positions * (together if together > 1 else 1 if constants.get(3, 0) else 4)
    weights = split * columns * channels * taps
    return Work(
        groups, groups * 64 * steps * 32 * positions * blocks, 2 * count * weights,
        groups * steps * 4 * (64 * loads + 4 * blocks * together), split * channels * depth * height * width + weights,
        steps, loads / 4, blocks * together, 1.9 * positions * blocks * (together if together > 1 else 16))


def staged_integers(multiply_add):
    """A step is a slab of 64 channels of the depth, of which inputs take a word each, and weights four a word. A product of
    two words is one multiply-add where the device has one for bytes."""
    def work(constants, grid, push, size, groups):
        lanes, height, width, pixels = (constants.get(key, 64) for key in range(4))
        positions, all_groups, channels, columns, words, tiles, shares, steps, input_area, output_area = push[:10]
        loaded = staged(all_groups, height, positions, tiles, columns, packed=4) * 4 * words * push[13] * push[14]
        columns *= all_groups
        inputs = channels * all_groups * (
            positions if constants.get(5, 0) else input_area * max(1, positions // max(1, output_area)))
        weights = columns * channels * push[13] * push[14]
        sums = 4 * shares * positions * columns if shares > 1 else 0
        products = 64 * pixels * multiply_add
        return Work(
            groups, groups * lanes * steps * 2 * products, 2 * positions * weights,
            loaded + sums,
            4 * inputs + weights + (0 if sums else 4 * positions * columns), steps, (16 * height + 4 * width) / lanes, 0,
            products + 128 * height / lanes, lanes)

    return work


def staged_integer_sum(constants, grid, push, size, groups):
    count, shares = push[:2]
    return Work(groups, groups * 64 * shares, 0, 4 * count * (shares + 1), 4 * count, 1 + -(-shares // 4), 1, 0, 4)


def winograd(side, loads_inputs, flops, multiply_adds, share=1):
    """A lane transforms a tile of a block: inputs to points, of which it stores a share, or sums at all points to outputs.
    Points and sums are float32. Tiles of inputs overlap, so each input comes from memory once."""
    points, outputs = (side + 2) ** 2, side ** 2

    def work(constants, grid, push, size, groups):
        wide = 4 * points * share
        return Work(
            groups, push[0] * flops, 0, push[0] * 4 * (wide + size * (points if loads_inputs else outputs)),
            push[0] * 4 * (wide + size * outputs * share), 1, points, 0, multiply_adds)

    return work


def element_wise(constants, grid, push, size, groups):
    return Work(groups, groups * 512, 0, groups * 2048, groups * 2048, 2, 2, 0, 4)


KERNELS = {
    "convolution": convolution, "linear": linear, "depthwise": depthwise, "attention": attention, "matmul": matmul,
    "staged_product": staged_product, "staged_product_narrow": staged_product_narrow,
    "staged_product_cooperative": staged_product_cooperative, "staged_product_windows": staged_product_windows,
    "staged_sum": staged_sum,
    "staged_integers": staged_integers(5.5), "staged_integers_dot": staged_integers(1),
    "staged_integer_sum": staged_integer_sum,
    "integer_product": integer_product, "integer_product_dot": integer_product,
    "attention_scalars": attention, "attention_row": attention_row, "attention_row_parts": attention_row,
    "attention_row_limited": attention_row_limited, "attention_row_limited_parts": attention_row_limited,
    "attention_staged": attention_staged, "attention_staged_parts": attention_staged, "attention_sum": attention_sum,
    "normalized_linear": normalized_linear, "winograd_input": winograd(2, True, 128, 64),
    "winograd_output": winograd(2, False, 128, 40), "winograd_input_large": winograd(4, True, 480, 408, 0.5),
    "winograd_output_large": winograd(4, False, 640, 560)}


def work(dispatch):
    """Returns a dispatch's work.

    Raises ValueError for a product without a formula, which would be taken for an element-wise kernel.
    """
    name = dispatch.pipeline.name
    base = name.replace("_half", "").replace("_coded", "")
    if base.startswith("staged_product"):
        base = base.replace("_parts", "")
    if base.startswith(compilers.PRODUCTS) and base not in KERNELS:
        raise ValueError(f"estimate.py has no formula for the product '{name}': add one to KERNELS")
    formula = KERNELS.get(base, element_wise)
    return formula(
        dispatch.pipeline.constants, dispatch.grid, dispatch.push, 2 if "_half" in name else 4, dispatch.groups)


def parts(work, card, is_robust):
    """Returns the microseconds that each part of a dispatch takes on a card. They overlap; the longest counts.

    - chains: the steps of one lane, each a latency of the cache and the lane's own instructions, for as many rounds as a
      unit needs for its groups.
    - loads, arithmetic: what the busiest unit loads into registers and computes.
    - cache, memory: bytes over bytes a second.
    """
    groups = -(-work.groups // card.units)   # of the busiest unit
    cycles = 1e-3 / card.gigahertz
    shared = 0 if card.is_scalar else work.shared / 2
    loads = work.vectors + work.shared
    checks = loads * CHECKED_LOAD if is_robust and card.is_checked else 0
    step = card.latency + work.multiply_adds + loads * 4 + checks
    operations = work.flops / max(1, work.groups) + 2 * work.lanes * work.steps * checks   # of a group
    return {
        "chains": -(-groups * work.lanes // (64 * card.resident)) * work.steps * step * cycles,
        "loads": groups * work.steps * (work.vectors + shared) * work.lanes * 16 / card.load_bytes * cycles,
        "arithmetic": groups * operations / (getattr(card, work.rate) or card.flops) * cycles,
        "cache": work.cached / card.cache * 1e-3,
        "memory": work.stored / card.memory * 1e-3,
    }


def estimate(works, card, is_robust):
    """Returns the milliseconds of dispatches that run one after another: of their launches, and of each part for the
    dispatches whose longest it is."""
    total = collections.Counter({"launches": len(works) * card.launch * 1e-3})
    for one in works:
        name, longest = max(parts(one, card, is_robust).items(), key=lambda part: part[1])
        total[name] += longest * 1e-3
    return total


@dataclasses.dataclass
class Network:
    name: str
    kernels: list    # the name of each dispatch's kernel
    works: list      # of each dispatch
    counts: dict
    is_robust: bool

    @property
    def products(self):
        return [work for kernel, work in zip(self.kernels, self.works) if kernel.startswith(compilers.PRODUCTS)]

    @property
    def title(self):
        return MODELS.get(self.name, self.name)

    def chained(self, units):
        """The products that leave compute units idle while each lane works through a long chain of steps."""
        return sum(work.groups < 2 * units and work.steps > STEPS for work in self.products)

    @property
    def host(self):
        """Milliseconds of waits and of copies over the bus, which the estimated times do not include."""
        return self.counts["waits"] * WAIT + (self.counts["bytes up"] + self.counts["bytes down"]) / BUS

    @property
    def bytes_per_flop(self):
        return sum(work.cached for work in self.products) / max(1, sum(work.useful for work in self.products))

    @property
    def hungry(self):
        """The large products that load more from the cache than the limit."""
        return sum(
            work.useful > LARGE and work.cached > max(BYTES_PER_FLOP * work.useful, MOST_LOADED * work.stored)
            for work in self.products)

    def behind(self):
        missed = []
        if any(map(self.chained, UNITS)):
            missed.append(
                f"chains of more than {STEPS} steps in fewer than two groups a unit: "
                + ", ".join(f"{self.chained(units)} with {units} units" for units in UNITS))
        if self.hungry:
            missed.append(f"large products that load too much from the cache: {self.hungry}")
        for (name, card), limit in LIMITS.items():
            if name == self.name and (time := estimate(self.works, CARDS[card], self.is_robust).total()) > limit:
                missed.append(f"{time:.2f} ms on {card} of at most {limit}")
        return missed


def networks(spirv, paths):
    names = commands.kernel_names(spirv)
    for path in paths:
        log = commands.read(path, names)
        inference = log.inference()
        dispatches = [log.dispatch(entry) for entry in inference if "dispatch" in entry]
        yield Network(
            path.stem, [dispatch.pipeline.name for dispatch in dispatches], list(map(work, dispatches)),
            commands.counts(inference), log.is_robust)


def logs(folder, precision="full"):
    """Returns the logs of the models at a precision in the scratch folder, in the order of MODELS."""
    paths = (pathlib.Path(folder) / "inferences" / precision / f"{model}.jsonl" for model in MODELS)
    return [path for path in paths if path.exists()]


def print_counts(every):
    table(
        ["network", "dispatches", "barriers", "submissions", "waits", "copies", "MB copied", "host ms",
         "products"]
        + [f"chains, {units} units" for units in UNITS] + ["bytes/FLOP", "over the limit"],
        [[one.title]
         + [one.counts[name] for name in ("dispatches", "barriers", "submissions", "waits", "copies")]
         + [f"{sum(count for name, count in one.counts.items() if name.startswith('bytes')) / 1e6:.2f}",
            f"{one.host:.2f}", len(one.products)]
         + [one.chained(units) for units in UNITS] + [f"{one.bytes_per_flop:.2f}", one.hungry] for one in every])


def print_low(every, low):
    """Prints the times of networks at precision low beside those at full."""
    rows = []
    full = {one.name: one for one in every}
    for one in low:
        for card in LOW:
            own, other = (estimate(of.works, CARDS[card], of.is_robust) for of in (one, full[one.name]))
            rows.append(
                [one.title, card, len(one.works), f"{own.total():.2f}", f"{other.total():.2f}"]
                + [f"{own[kind]:.2f}" for kind in KINDS])
    table(["network", "card", "dispatches", "ms", "ms at full", *KINDS], rows)


def print_estimates(every):
    rows = []
    for one in every:
        for name, card in CARDS.items():
            time = estimate(one.works, card, one.is_robust)
            useful = sum(work.useful for work in one.works) / (time.total() * 1e-3) / card.peak
            rows.append(
                [one.title, name, f"{time.total():.2f}"] + [f"{time[kind]:.2f}" for kind in KINDS]
                + [f"{useful:.1%}", LIMITS.get((one.name, name), "")])
    table(["network", "card", "ms", *KINDS, "of peak", "limit"], rows)


def print_cards():
    table(
        ["card", "units", "GHz", "TFLOP/s", "cache GB/s", "memory GB/s", "cache latency, cycles", "launch, µs"],
        [[name, card.units, card.gigahertz, f"{card.peak / 1e12:.1f}", card.cache, card.memory, card.latency, card.launch]
         for name, card in CARDS.items()])


def print_longest(every, name):
    """Prints the longest dispatch of each network on a card."""
    rows = []
    for one in every:
        times = [parts(work, CARDS[name], one.is_robust) for work in one.works]
        longest = max(range(len(times)), key=lambda index: max(times[index].values()))
        part, time = max(times[longest].items(), key=lambda part: part[1])
        work = one.works[longest]
        rows.append(
            [one.title, f"`{one.kernels[longest]}`", work.groups, f"{work.steps:.0f}", f"{work.useful / 1e6:.1f}",
             f"{work.cached / 1e6:.2f}", f"{time:.0f}", part])
    table(["network", "kernel", "groups", "steps", "MFLOP", "cache MB", f"µs on {name}", "longest part"], rows)


if __name__ == "__main__":
    spirv, *paths = sys.argv[1:]
    every = list(networks(spirv, map(pathlib.Path, paths)))
    print_counts(every)
    print()
    print_estimates(every)
    print()
    print_longest(every, next(iter(CARDS)))
