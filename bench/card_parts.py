"""The parts of card.sh that run Kelvin, each a function of the same name. card.py has what they share.

Usage: card_parts.py PART [FOLDER]
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import catalog
import comparing
import gpu_agreement
import gpu_starts
import layers
import models
import plain_shader
from card import (DEVICE, IS_REHEARSAL, KELVIN, OUT, PACK, THREADS, Log, answer, attempt, each_more, kelvin, layered, model,
                  of_file, put, say)
from contenders import HERE, ContenderFailed, device
from network import Network, TensorProto, helper, numpy_helper

SIX = gpu_agreement.MODELS if not IS_REHEARSAL else ("squeezenet", "mobilenet_v2")
THREE = ("mobilenet_v2", "resnet50", "vit_b16") if not IS_REHEARSAL else ("mobilenet_v2",)
PEERS = ("mobilenet_v2", "resnet50", "vit_b16", "minilm", "unet") if not IS_REHEARSAL else ("squeezenet",)
# The card through Vulkan, and through OpenCL if it has that.
DEVICES = list(dict.fromkeys([DEVICE, *filter(None, os.environ.get("KELVIN_CARD_OPENCL", "").split(","))]))
# The fewest inferences of a round, and the fewest seconds of them.
ROUND = (50, 0.5) if not IS_REHEARSAL else (1, 0.0)
# Rows, depth and columns of products, and the side of the plane of a 1×1 convolution; None for rows times a matrix.
PRODUCTS = ((49, 960, 160, 7), (196, 384, 64, 14), (784, 192, 32, 28), (3136, 64, 256, 56), (197, 768, 3072, None),
            (128, 384, 1536, None), (512, 512, 512, None), (1024, 1024, 1024, None), (4096, 4096, 4096, None))
PRODUCTS = PRODUCTS if not IS_REHEARSAL else PRODUCTS[:2] + PRODUCTS[5:6]
# The place of the constants that are a tile's positions and blocks in convolution.comp.
TILE = (3, 2)


def agreement():
    """Largest differences of networks from the CPU device, at full and low, on the card and on its OpenCL."""
    for name in SIX:
        attempt(agreed, name)


def agreed(name):
    reference = kelvin(name, "cpu", "full").outputs()
    scale = max(float(abs(values).max()) for values in reference.values())
    for unit in DEVICES:
        for precision in gpu_agreement.PRECISIONS:
            agrees = comparing.difference(kelvin(name, unit, precision).outputs(), reference)
            limit = gpu_agreement.LIMITS.get(precision)
            put(model=name, device=unit, precision=precision, scale=scale, **agrees, limit=limit,
                verdict=gpu_agreement.verdict(agrees, limit))


def bounds():
    """Inferences with robustBufferAccess on (A) and off (B), in the order A B B A."""
    if not DEVICE.startswith("vulkan"):
        raise ContenderFailed(f"{DEVICE} has no robustBufferAccess; bounds checks are Vulkan's")
    with tempfile.TemporaryDirectory() as folder:
        for name in SIX if not IS_REHEARSAL else SIX[:1]:
            attempt(bounded, name, folder)


def bounded(name, folder):
    found = collections.defaultdict(list)
    for robust in (True, False, False, True):
        # Pipelines with and without checks do not share a cache.
        cache = os.path.join(folder, f"{name}-{robust}")
        found[robust].append(kelvin(name, **layered(None, robust), KELVIN_CACHE_DIR=cache).round(*ROUND)["p50"])
    put(model=name, on=found[True], off=found[False], ratio=sum(found[True]) / sum(found[False]))


def floors():
    """Seconds of empty dispatches, of submissions and of copies, and the rate of the plain shader."""
    name = device(KELVIN, DEVICE)["name"]
    plain = PACK / "plain_shader"
    put(**answer(PACK / "card_floors", name, plain / "multiply_adds_1.spv", 100 if IS_REHEARSAL else 1000))
    rates = plain_shader.measure(plain_shader.built(plain), name)
    put(plain=max(rates.values()), rates=rates)


def accounts():
    """The account of `kelvin profile` beside the layer's counts for one inference."""
    for name in THREE:
        attempt(accounted, name)


def accounted(name):
    contender = kelvin(name)
    profile = layers.profiled(contender, 0.3 if IS_REHEARSAL else 3, usesCache=True)
    put(model=name, layers=len(profile.layers), account=profile.account, whole=profile.whole, elsewhere=profile.elsewhere,
        layerSeconds=sum(layer.seconds for layer in profile.layers))
    few, many = (1, 3) if IS_REHEARSAL else (10, 30)
    put(model=name, counts=each_more(contender, few, many, inferred))


def inferred(contender, iterations):
    contender.bench("round", "--iterations", str(iterations), "--warm-seconds", "0", "--no-canary")


def products():
    """Products by size and tile, timed by the device's clock while Kelvin's tuner runs, and the same by cuBLAS."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, isConstant in (("float32", True), ("float16", True), ("float32", False)):
            for size in PRODUCTS:
                if isConstant or size[3] is None:
                    attempt(tiled, size, kind, isConstant, folder)
    torch("products", json.dumps(PRODUCTS))


def torch(*arguments):
    """Runs PyTorch in a process of its own, which appends to the results itself."""
    done = subprocess.run([sys.executable, str(HERE / "peer_torch.py"), *arguments], capture_output=True, text=True)
    if done.returncode:
        say(f"PyTorch: {(done.stderr.strip().splitlines() or [done.returncode])[-1]}")


def product_model(size, kind, isConstant, path):
    """Writes a model of one product, whose second operand is a constant or an input."""
    rows, depth, columns, side = size
    net = Network("product", 1)
    weights = np.random.default_rng(1).standard_normal((depth, columns)) / np.sqrt(depth)
    x, y = [rows, depth], [rows, columns]
    if side:
        weights, x, y = weights.T.reshape(columns, depth, 1, 1), [1, depth, side, side], [1, columns, side, side]
    element = TensorProto.FLOAT if kind == "float32" else TensorProto.FLOAT16
    inputs = {"x": (element, x)}
    if isConstant:
        net.initializers.append(numpy_helper.from_array(np.ascontiguousarray(weights, kind), "weights"))
    else:
        inputs["weights"] = (element, [depth, columns])
    net.nodes.append(helper.make_node("Conv" if side else "MatMul", ["x", "weights"], ["y"], name="product"))
    models.saved(net.model(inputs, {"y": (element, y)}), path)


def tiled(size, kind, isConstant, folder):
    path = pathlib.Path(folder) / f"{'-'.join(map(str, size[:3]))}-{kind}-{isConstant}.onnx"
    product_model(size, kind, isConstant, path)
    with Log() as log:
        # Only kernels that were not timed before are timed.
        contender = of_file(path, **layered(log.path), KELVIN_CACHE_DIR=str(path.with_suffix("")))
        profile = answer(KELVIN, "profile", path, "--budget", 0.3, "--exclude", "cpu", "--tuning", "exhaustive",
                         *contender.options(), **dict(contender.environment))
        found = collections.defaultdict(lambda: float("inf"))
        for line in log.lines():
            # A product may be preceded and followed by kernels that change the layout, with fewer constants.
            timed = [each for each in zip(line.get("constants", ()), line.get("ticks", ())) if len(each[0]) > 2]
            for constants, ticks in timed[:1]:
                name = tile(constants, isConstant)
                found[name] = min(found[name], ticks * line["period"])
    cost = profile["nodes"][0]["costs"][0]
    form = "1×1 convolution" if size[3] else "rows × constant" if isConstant else "rows × input"
    put(size=size[:3], form=form, type=kind, tiles=found, kernel=cost["kernel"], seconds=cost["seconds"])
    path.unlink()


def tile(constants, isConstant):
    """Names a kernel by its specialization constants, after the positions × blocks of a product with constants."""
    shape = f"{constants[TILE[0]]}×{constants[TILE[1]]} " if isConstant and len(constants) > max(TILE) else ""
    return f"{shape}({' '.join(map(str, constants))})"


def peers():
    """Whole inferences of Kelvin, PyTorch and ncnn in turn, in the reverse order every other round."""
    for turn in range(3 if not IS_REHEARSAL else 1):
        order = (ours, by_torch, by_ncnn)
        for work in order if turn % 2 == 0 else reversed(order):
            work(turn)


def ours(turn):
    for name in PEERS:
        for precision in (None, "low"):
            attempt(our_round, name, precision, turn)


def our_round(name, precision, turn):
    p50 = kelvin(name, precision=precision).round(*ROUND)["p50"]
    put(model=name, contender=f"Kelvin {precision or 'automatic'}", round=turn, p50=p50)


def by_torch(turn):
    paths = {name: (str(path), str(catalog.Case(name).inputs().folder)) for name in PEERS
             if (path := attempt(model, name)) is not None}
    torch("networks", json.dumps(paths), str(turn))


def by_ncnn(turn):
    try:
        import ncnn  # noqa: F401
    except ImportError as error:
        say(f"ncnn: {error}")
        return
    for name in PEERS:
        attempt(ncnn_round, name, turn)


def ncnn_round(name, turn):
    import peers as comparison
    if name not in comparison.ON_DEVICES["vulkan"]:
        return
    import ncnn_model
    prefix, inputs = str(catalog.CACHE / name), catalog.Case(name).inputs()
    if not pathlib.Path(f"{prefix}.param").exists():
        ncnn_model.write(str(model(name)), prefix)
    for setting, options in (("default", ()), ("full", ("--full",))):
        peer = comparison.Peer("ncnn", "peer_ncnn.py", prefix, inputs, ("--device", device(KELVIN, DEVICE)["name"], *options),
                               THREADS)
        put(model=name, contender=f"ncnn {setting}", round=turn, p50=peer.round(*ROUND)["p50"])


def precision():
    """Full, low and 8-bit integers in the order A B C C B A, and the kernels of each."""
    int8 = ("resnet50_int8",) if not IS_REHEARSAL else ()
    cases = [(name, precision) for name in THREE for precision in ("full", "low")] + [(name, None) for name in int8]
    found = collections.defaultdict(list)
    for case in (*cases, *reversed(cases)) if not IS_REHEARSAL else cases:
        seconds = attempt(lambda name, precision: kelvin(name, precision=precision).round(*ROUND)["p50"], *case)
        if seconds is not None:
            found[case].append(seconds)
    for name, level in cases:
        if found[name, level]:
            put(model=name, precision=level or "8-bit", seconds=found[name, level])
            attempt(kernels, name, level)


def kernels(name, level):
    contender = kelvin(name, precision=level)
    profile = answer(KELVIN, "profile", contender.model, "--budget", 0.3, "--exclude", "cpu", *contender.options())
    counted = collections.Counter(f"{node['op']} {node['costs'][0].get('kernel', '')}".strip()
                                  for node in profile["nodes"] if node["costs"])
    put(model=name, precision=level or "8-bit", kernels=dict(counted.most_common()))


def tokens():
    """Tokens a second at 64 and at 900 keys, and the layer's counts for a token."""
    for keys in (64, 900) if not IS_REHEARSAL else (16,):
        attempt(generated, "gpt2_shared" if not IS_REHEARSAL else "small decoder", keys)


def small_decoder():
    """Builds gpt2_shared with one layer and few words."""
    import decoder_models
    decoder_models.LAYERS, decoder_models.WORDS = 1, 1000
    path = catalog.CACHE / "small_decoder.onnx"
    models.saved(decoder_models.gpt2_shared(), path)
    return path


def generated(name, keys):
    count = 16 if not IS_REHEARSAL else 4
    contender = of_file(model(name) if not IS_REHEARSAL else small_decoder())

    def run(variables):
        return answer(KELVIN, "bench", contender.model, "--workload", "tokens", "--units", DEVICE, "--json", "--no-canary",
                      "--prompt", keys - count, "--tokens", count, "--duration", 0.5, "--no-agreement", **variables)
    pace = run({})["configurations"][0]["tokens"]
    once = pace.get("sustained") or pace["oneShot"]
    put(model=name, keys=keys, rate=once["rate"], firstToken=once.get("firstToken"), memory=pace.get("memory"))
    with Log() as log:
        run(layered(log.path))
        put(model=name, keys=keys, counts=log.typical())


def starts():
    """First results with empty caches and with filled ones, as whole processes."""
    for name in THREE if not IS_REHEARSAL else SIX[:1]:
        for unit in DEVICES:
            attempt(started, name, unit)


def started(name, unit):
    model(name).read_bytes()
    put(model=name, device=unit, **gpu_starts.Setting(catalog.Case(name), kelvin(name, unit)).turn())


def throughput():
    """Inferences a second of the CPU, of the card and of both, with one to four in flight."""
    for name in THREE[:2]:
        for unit in ("cpu", DEVICE, f"cpu,{DEVICE}"):
            for flying in (1, 2, 4) if not IS_REHEARSAL else (2,):
                attempt(streamed, name, unit, flying)


def streamed(name, unit, flying):
    seconds = 2 if not IS_REHEARSAL else 1
    found = kelvin(name, unit).bench("rate", "--in-flight", str(flying), "--duration", str(seconds))
    put(model=name, device=unit, inFlight=flying, p50=found["p50"], rate=found["throughput"],
        placement={unit: count for unit, count in found["placement"].items() if isinstance(count, int)})


def conformance():
    """The conformance suite of the card's kind. Without the test program, Kelvin's self-tests are all that ran."""
    program = PACK / "tests" / "KelvinPackageTests.xctest"
    if not program.exists():
        say("the test program was not packed; Kelvin's own self-tests ran whenever it opened the device, and `agreement` has the "
            "outputs")
        return
    target = "KelvinVulkanTests" if DEVICE.startswith("vulkan") else "KelvinOpenCLTests"
    only = r"\..*ConformanceTests/" if not IS_REHEARSAL else r"\.VulkanConformanceTests/conformsOnFastByteProducts\(\)"
    libraries = f"{program.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    variables = {"LD_LIBRARY_PATH": libraries, "KELVIN_POISON_MEMORY": "255", "KELVIN_SLOW_TESTS": "1"}
    log = OUT / "suite.log"
    with open(log, "w") as file:
        suite = subprocess.Popen([str(program), "--testing-library", "swift-testing", "--filter", f"^{target}{only}"],
                                 stdout=file, stderr=subprocess.STDOUT, env=os.environ | variables)
        try:
            status = suite.wait(max(1.0, float(os.environ["KELVIN_CARD_PART_SECONDS"]) - 5))
        except subprocess.TimeoutExpired:
            suite.kill()
            status = None
    lines = log.read_text(errors="replace").splitlines()
    passed = sum(" passed after " in line and "Test run" not in line for line in lines)
    put(status=status, issues=[line.strip()[:300] for line in lines if "recorded an issue" in line][:20],
        summary=next((line.strip() for line in reversed(lines) if "Test run with" in line),
                     f"{passed} tests and suites passed until the time was over"))


PARTS = {part.__name__: part for part in (agreement, bounds, floors, accounts, products, peers, precision, tokens, starts,
                                          throughput, conformance)}

if __name__ == "__main__":
    try:
        PARTS[sys.argv[1]]()
    except (ContenderFailed, OSError) as failure:
        say(failure)
        sys.exit(f"card_parts.py: {failure}")
