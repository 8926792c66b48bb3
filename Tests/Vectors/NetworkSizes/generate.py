"""Writes neural networks whose sizes depend on data, made with coremltools' builder, and what they must compute, from NumPy.

One network has one `.mlmodel` file and a `.kv` file for each of several inputs that find different sizes, in the format that
../README.md describes.

    .venv/bin/pip install coremltools==9.0 numpy
    .venv/bin/python Tests/Vectors/NetworkSizes/generate.py
"""

import pathlib
import sys

import coremltools as ct
import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import kv  # noqa: E402


def network(inputs, outputs, build, has_five_axes=False):
    """inputs: shapes by name; outputs: names."""
    features = [(name, datatypes.Array(*shape)) for name, shape in inputs.items()]
    builder = NeuralNetworkBuilder(features, [(name, None) for name in outputs], disable_rank5_shape_mapping=not has_five_axes)
    build(builder)
    for feature in list(builder.spec.description.input) + list(builder.spec.description.output):
        feature.type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
    return builder.spec


def write(name, spec, compute, sets):
    """compute: inputs by name to outputs by name; sets: inputs by name."""
    (HERE / f"{name}.mlmodel").write_bytes(spec.SerializeToString())
    for number, inputs in enumerate(sets):
        inputs = {key: np.asarray(value, np.float32) for key, value in inputs.items()}
        outputs = [(key, np.asarray(value, np.float32)) for key, value in compute(**inputs).items()]
        header = {"case": f"{name}_{number}", "tolerance": {"absolute": 2e-6, "relative": 1e-5}}
        (HERE / f"{name}_{number}.kv").write_bytes(kv.encode(header, inputs.items(), outputs))


def integers(*arrays):
    return [array.astype(int) for array in arrays]


def given(random):
    """Every layer that takes a size as an input of the model."""
    shapes = {"x": (2, 6), "row": (1, 3), "shape": (2,), "reps": (2,), "end": (1,), "step": (1,), "form": (2,), "k": (1,),
              "ids": (3,), "depth": (1,), "begin": (2,), "ends": (2,), "from": (1,), "pads": (4,), "axis": (1,)}
    outputs = ("broadcast", "tiled", "filled", "range", "reshaped", "largest", "places", "hot", "slice", "window", "padded",
               "sums")

    def build(nn):
        nn.add_broadcast_to_dynamic("b", ["row", "shape"], "broadcast")
        nn.add_tile("t", ["x", "reps"], "tiled")
        nn.add_fill_dynamic("f", "shape", "filled", 2.5)
        nn.add_load_constant_nd("start", "start", np.array([1.0], np.float32), (1,))
        nn.add_range_dynamic("r", ["end", "start", "step"], "range")
        nn.add_reshape_dynamic("rs", ["x", "form"], "reshaped")
        nn.add_topk("k", ["x", "k"], ["largest", "places"], axis=1)
        nn.add_one_hot("o", ["ids", "depth"], "hot", axis=-1, on_value=3.0, off_value=-1.0)
        nn.add_slice_dynamic("s", ["x", "begin", "ends"], "slice", strides=[1, 2], begin_masks=[False, False],
                             end_masks=[False, False])
        nn.add_slice_by_size("w", ["x", "from"], "window", axis=1, size=2)
        nn.add_constant_pad("p", ["x", "pads"], "padded", 7.0)
        nn.add_cumsum("c", ["x", "axis"], "sums")

    def compute(x, row, shape, reps, end, step, form, k, ids, depth, begin, ends, pads, axis, **rest):
        shape, reps, form, (k,), ids, (depth,) = integers(shape, reps, form, k, ids, depth)
        begin, ends, (first,), pads, (axis,) = integers(begin, ends, rest["from"], pads, axis)
        order = np.argsort(-x, 1, "stable")[:, :k]
        return {
            "broadcast": np.broadcast_to(row, shape), "tiled": np.tile(x, reps), "filled": np.full(shape, 2.5),
            "range": np.arange(1, end[0], step[0]), "reshaped": x.reshape(form),
            "largest": np.take_along_axis(x, order, 1), "places": order,
            "hot": np.where(np.arange(depth) == ids[:, None], 3.0, -1.0),
            "slice": x[begin[0]:ends[0], begin[1]:ends[1]:2], "window": x[:, first:first + 2],
            "padded": np.pad(x, pads.reshape(2, 2), constant_values=7.0), "sums": np.cumsum(x, axis)}

    def inputs(**sizes):
        return {"x": random.uniform(-1, 1, (2, 6)), "row": random.uniform(-1, 1, (1, 3)), "ids": [2, 0, 1], **sizes}
    sets = [
        inputs(shape=[2, 3], reps=[1, 2], end=[5], step=[1.5], form=[3, 4], k=[2], depth=[3], begin=[0, 1], ends=[2, 6],
               pads=[1, 0, 0, 2], axis=[0], **{"from": [3]}),
        inputs(shape=[4, 3], reps=[3, 1], end=[2], step=[0.25], form=[12, -1], k=[6], depth=[5], begin=[1, 0], ends=[2, 3],
               pads=[0, 0, 3, 1], axis=[1], **{"from": [0]})]
    write("given", network(shapes, outputs, build), compute, [*sets, {**sets[0], "step": [1.4]}])


def computed(random):
    """Sizes that are computed from the data; what is computed beside them is read behind the cut."""
    def build(nn):
        nn.add_elementwise("twice", ["x"], "twice", "MULTIPLY", alpha=2.0)
        nn.add_reduce_sum("n", "x", "n", axes=[0], keepdims=True)
        nn.add_load_constant_nd("three", "three", np.array([3.0], np.float32), (1,))
        nn.add_concat_nd("both", ["n", "three"], "both", axis=0)
        nn.add_fill_dynamic("f", "both", "filled", 1.0)
        nn.add_load_constant_nd("row", "row", np.array([1.0, 2.0, 3.0], np.float32), (3,))
        nn.add_multiply_broadcastable("y", ["filled", "row"], "y")
        nn.add_load_constant_nd("zero", "zero", np.array([0.0], np.float32), (1,))
        nn.add_slice_dynamic("s", ["twice", "zero", "n"], "front", strides=[1], begin_masks=[False], end_masks=[False])
        nn.add_get_shape("shape", "front", "count")
        nn.add_tile("t", ["row", "count"], "tiled")

    def compute(x):
        n = int(x.sum())
        return {"y": np.ones((n, 3)) * [1, 2, 3], "front": 2 * x[:n], "tiled": np.tile([1, 2, 3], n), "twice": 2 * x}
    write("computed", network({"x": (6,)}, ("y", "front", "tiled", "twice"), build), compute,
          [{"x": x} for x in ([1, 0, 2, 0, 1, 1], [1, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0])])


def found(random):
    """Elements that are not zero, by their positions, and values computed from them in two further steps."""
    def build(nn):
        nn.add_where_nonzero("w", "x", "places")
        nn.add_gather_nd("g", ["x", "places"], "picked")
        nn.add_greater_than("a", ["picked"], "above", alpha=0.0)
        nn.add_where_nonzero("h", "above", "high")
        nn.add_gather_nd("p", ["picked", "high"], "positive")
        nn.add_reduce_sum("s", "positive", "total", axes=[0], keepdims=True)

    def compute(x):
        picked = x[x != 0]
        return {"places": np.argwhere(x != 0), "picked": picked, "positive": picked[picked > 0],
                "total": picked[picked > 0].sum(keepdims=True)}
    grids = [np.round(random.uniform(-1, 1, (3, 4)), 2) * (random.uniform(0, 1, (3, 4)) < share) for share in (0.5, 1.1, 0.3)]
    write("found", network({"x": (3, 4)}, ("places", "picked", "positive", "total"), build), compute,
          [{"x": x} for x in grids])


def looped(random):
    """A table whose size is an input, which a loop fills, and a table whose size a loop computes."""
    def build(nn):
        nn.add_copy("c", "start", "n")
        loop = nn.add_loop("l", condition="again").loop
        test, body = (NeuralNetworkBuilder(nn_spec=part) for part in (loop.conditionNetwork, loop.bodyNetwork))
        test.add_less_than("t", ["n"], "again", alpha=10.0)
        body.add_elementwise("d", ["n"], "twice", "MULTIPLY", alpha=2.0)
        body.add_copy("cn", "twice", "n")
        nn.add_fill_dynamic("f", "n", "found", 0.5)
        nn.add_fill_dynamic("a", "size", "table", 1.0)
        trips = nn.add_loop("m", max_iterations=3).loop
        trip = NeuralNetworkBuilder(nn_spec=trips.bodyNetwork)
        trip.add_add_broadcastable("g", ["table", "start"], "grown")
        trip.add_copy("cg", "grown", "table")
        nn.add_elementwise("y", ["table"], "y", "ADD", alpha=0.0)

    def compute(start, size):
        n = start[0]
        while n < 10:
            n *= 2
        return {"found": np.full(int(n), 0.5), "y": np.ones(size.astype(int)) + 3 * start}
    write("looped", network({"start": (1,), "size": (2,)}, ("found", "y"), build), compute,
          [{"start": [3], "size": [2, 3]}, {"start": [10], "size": [1, 1]}, {"start": [1], "size": [4, 2]}])


def chained(random):
    """A pipeline whose second network takes a size from the first."""
    def count(nn):
        nn.add_reduce_sum("n", "x", "n", axes=[0], keepdims=True)
        nn.add_elementwise("h", ["x"], "half", "MULTIPLY", alpha=0.5)

    def repeat(nn):
        nn.add_tile("t", ["half", "n"], "y")
    first = network({"x": (4,)}, ("n", "half"), count)
    second = network({"half": (4,), "n": (1,)}, ("y",), repeat)
    for feature in first.description.output:
        feature.type.multiArrayType.shape.append(1 if feature.name == "n" else 4)
    pipeline = ct.models.pipeline.Pipeline([("x", datatypes.Array(4))], [("y", datatypes.Array(4))])
    for part in (first, second):
        pipeline.add_model(part)
    spec = pipeline.spec
    for feature in list(spec.description.input) + list(spec.description.output):
        feature.type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
    del spec.description.output[0].type.multiArrayType.shape[:]
    write("chained", spec, lambda x: {"y": np.tile(x / 2, int(x.sum()))},
          [{"x": x} for x in ([1, 0, 2, 0], [1, 0, 0, 0], [3, 0, 0, 2])])


def sequence(random):
    """Arrays of five axes, [sequence, batch, C, H, W], where the network declares three: its only length that fits is 15."""
    table, weights = (random.uniform(-1, 1, shape).astype(np.float32) for shape in ((10, 32), (480, 2)))

    def build(nn):
        nn.add_embedding("embed", table.T, None, 10, 32, False, "data", "embed")
        nn.add_permute("permute", [3, 1, 2, 0], "embed", "permute")
        nn.add_flatten("flatten", 0, "permute", "flatten")
        nn.add_inner_product("dense", weights.T, None, 480, 2, False, "flatten", "y")

    def compute(data):
        rows = table[data.astype(int).reshape(15)]
        return {"y": (rows.T.reshape(480) @ weights).reshape(1, 1, 2, 1, 1)}
    write("sequence", network({"data": (1, 1, 1)}, ("y",), build, True), compute,
          [{"data": random.integers(0, 10, (15, 1, 1, 1, 1))} for _ in range(2)])


def sequences(random):
    """Vectors in sequences, [sequence, batch, C], of any lengths, and one alone."""
    weights = random.uniform(-1, 1, (3, 2)).astype(np.float32)

    def build(nn):
        nn.add_inner_product("dense", weights.T, None, 3, 2, False, "x", "y")
    write("sequences", network({"x": (3,)}, ("y",), build, True),
          lambda x: {"y": (x @ weights).reshape((*x.shape[:-1], 2, 1, 1) if x.ndim == 3 else (1, 1, 2, 1, 1))},
          [{"x": random.uniform(-1, 1, shape)} for shape in ((5, 2, 3), (3,), (1, 4, 3))])


def channels(random):
    """A number of channels that may be anything and must be eight, for groups of four."""
    weights = random.uniform(-1, 1, (1, 1, 4, 6)).astype(np.float32)

    def build(nn):
        nn.add_convolution("c", 4, 6, 1, 1, 1, 1, "valid", 2, weights, None, False, input_name="x", output_name="y")
    spec = network({"x": (1, 1, 3, 2)}, ("y",), build)
    sizes = spec.description.input[0].type.multiArrayType.shapeRange.sizeRanges
    for lower, upper in ((1, 1), (1, -1), (3, 3), (2, 2)):
        sizes.add(lowerBound=lower, upperBound=upper)

    def compute(x):
        halves = np.split(weights[0, 0], 2, axis=1)
        return {"y": np.concatenate([np.einsum("bchw,co->bohw", part, half)
                                     for part, half in zip(np.split(x, 2, axis=1), halves)], axis=1)}
    write("channels", spec, compute, [{"x": random.uniform(-1, 1, (1, 8, 3, 2))} for _ in range(2)])


def main():
    for path in list(HERE.glob("*.kv")) + list(HERE.glob("*.mlmodel")):
        path.unlink()
    random = np.random.default_rng(20261126)
    for make in (given, computed, found, looped, chained, sequence, sequences, channels):
        make(random)


if __name__ == "__main__":
    main()
