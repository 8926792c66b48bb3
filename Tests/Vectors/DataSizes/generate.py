"""Writes the vectors of ONNX models whose sizes depend on data, each with several inputs that find different sizes.

Expected outputs come from ONNX Runtime. One model has one `.onnx` file and a `.kv` file for each set of inputs, in the
format that ../README.md describes.

    .venv/bin/pip install onnx==1.23.2 numpy==2.4.6 onnxruntime==1.31.1
    .venv/bin/python Tests/Vectors/DataSizes/generate.py
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from onnx_vectors import B, F, I, constant, node, value, write  # noqa: E402


def places():
    """The indices that a run finds are an output of the model."""
    return helper.make_graph([node("NonZero", ["x"], ["y"])], "places", [value("x", F, [3, 4])],
                             [value("y", I, [2, None])])


def picked():
    """The found elements are used: the positive elements, twice as large, and their sum."""
    return helper.make_graph([
        node("Greater", ["x", "zero"], ["mask"]), node("NonZero", ["mask"], ["at"]),
        node("Transpose", ["at"], ["pairs"], perm=[1, 0]), node("GatherND", ["x", "pairs"], ["found"]),
        node("Mul", ["found", "two"], ["y"]), node("ReduceSum", ["y"], ["sum"], keepdims=1)],
        "picked", [value("x", F, [3, 4])], [value("y", F, [None]), value("sum", F, [1])],
        [constant("zero", np.float32(0)), constant("two", np.float32(2))])


def twice():
    """A size that depends on an earlier data-dependent size; a constant that both stages read."""
    return helper.make_graph([
        node("Greater", ["x", "low"], ["mask"]), node("NonZero", ["mask"], ["at"]),
        node("Squeeze", ["at", "front"], ["rows"]), node("Gather", ["x", "rows"], ["kept"]),
        node("Less", ["kept", "high"], ["mask2"]), node("NonZero", ["mask2"], ["at2"]),
        node("Squeeze", ["at2", "front"], ["rows2"]), node("Gather", ["kept", "rows2"], ["inner"]),
        node("Sub", ["inner", "low"], ["y"]), node("Shape", ["kept"], ["count"])],
        "twice", [value("x", F, [12])], [value("y", F, [None]), value("count", I, [1])],
        [constant("low", np.float32(-0.5)), constant("high", np.float32(0.5)), constant("front", np.int64([0]))])


def compress():
    """Columns by a condition, and the elements of all of it by another."""
    return helper.make_graph([
        node("Greater", ["c", "zero"], ["mask"]), node("Compress", ["x", "mask"], ["columns"], axis=1),
        node("Compress", ["x", "flags"], ["y"]), node("Neg", ["columns"], ["z"])],
        "compress", [value("x", F, [3, 4]), value("c", F, [4]), value("flags", B, [9])],
        [value("z", F, [3, None]), value("y", F, [None])], [constant("zero", np.float32(0))])


def suppressed():
    """Selected boxes, and their scores gathered in the model."""
    return helper.make_graph([
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["rows"]),
        node("Gather", ["rows", "two"], ["box"], axis=1), node("Squeeze", ["boxes", "front"], ["flat"]),
        node("Gather", ["flat", "box"], ["y"])],
        "suppressed", [value("boxes", F, [1, 24, 4]), value("scores", F, [1, 3, 24])],
        [value("rows", I, [None, 3]), value("y", F, [None, 4])],
        [constant("most", np.int64(5)), constant("overlap", np.float32(0.4)), constant("least", np.float32(0.3)),
         constant("two", np.int64(2)), constant("front", np.int64([0]))])


def images():
    """Two images of four classes, boxes as centre and size, without a score threshold."""
    return helper.make_graph([
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap"], ["rows"], center_point_box=1)],
        "images", [value("boxes", F, [2, 16, 4]), value("scores", F, [2, 4, 16])], [value("rows", I, [None, 3])],
        [constant("most", np.int64(3)), constant("overlap", np.float32(0.5))])


def shapes():
    """Sizes that are computed from the data, in every operation that takes them."""
    return helper.make_graph([
        node("Cast", ["x"], ["whole"], to=I), node("ReduceSum", ["whole"], ["n"], keepdims=0),
        node("Unsqueeze", ["n", "front"], ["size"]), node("Concat", ["size", "three"], ["sizes"], axis=0),
        node("ConstantOfShape", ["sizes"], ["zeros"]), node("Range", ["zero", "n", "one"], ["steps"]),
        node("Expand", ["row", "sizes"], ["rows"]), node("Add", ["zeros", "rows"], ["filled"]),
        node("Tile", ["row", "size"], ["tiled"]), node("Concat", ["three", "size"], ["turned"], axis=0),
        node("Reshape", ["filled", "turned"], ["y"], allowzero=1), node("Slice", ["x", "start", "size"], ["z"])],
        "shapes", [value("x", F, [6])],
        [value("y", F, [None, None]), value("steps", I, [None]), value("tiled", F, [None]), value("z", F, [None])],
        [constant("front", np.int64([0])), constant("three", np.int64([3])), constant("zero", np.int64(0)),
         constant("one", np.int64(1)), constant("row", np.float32([1, 2, 3])), constant("start", np.int64([0]))])


def given():
    """A shape and a number of iterations that are inputs."""
    body = helper.make_graph([node("Add", ["v", "unit"], ["next"]), node("Identity", ["goes_on"], ["still"]),
                              node("Identity", ["next"], ["row"])], "body",
                             [value("i", I, []), value("goes_on", B, []), value("v", F, [2])],
                             [value("still", B, []), value("next", F, [2]), value("row", F, [2])],
                             [constant("unit", np.float32(1))])
    return helper.make_graph([
        node("Reshape", ["x", "shape"], ["y"]),
        node("Loop", ["trips", "", "start"], ["last", "rows"], name="steps", body=body)],
        "given", [value("x", F, [12]), value("shape", I, [2]), value("trips", I, []), value("start", F, [2])],
        [value("y", F, [None, None]), value("last", F, [2]), value("rows", F, [None, 2])])


def growing():
    """A loop that ends when its data says so, with a row for each iteration, which are then added up."""
    body = helper.make_graph([
        node("Mul", ["v", "half"], ["next"]), node("ReduceMax", ["next"], ["most"], keepdims=0),
        node("Greater", ["most", "one"], ["more"]), node("Neg", ["next"], ["row"])], "body",
        [value("i", I, []), value("goes_on", B, []), value("v", F, [3])],
        [value("more", B, []), value("next", F, [3]), value("row", F, [3])],
        [constant("half", np.float32(0.5)), constant("one", np.float32(1))])
    return helper.make_graph([
        node("Loop", ["limit", "start", "x"], ["y", "rows"], name="halve", body=body),
        node("ReduceSum", ["rows", "front"], ["sum"], keepdims=0)],
        "growing", [value("x", F, [3]), value("start", B, [])],
        [value("y", F, [3]), value("rows", F, [None, 3]), value("sum", F, [3])],
        [constant("limit", np.int64(7)), constant("front", np.int64([0]))])


def distinct():
    """The different elements in order, with all outputs of the operator, and values computed from them."""
    return helper.make_graph([
        node("Unique", ["x"], ["values", "first", "inverse", "counts"]), node("Mul", ["values", "two"], ["y"]),
        node("Gather", ["y", "inverse"], ["back"])],
        "distinct", [value("x", F, [3, 4])],
        [value("y", F, [None]), value("first", I, [None]), value("inverse", I, [12]), value("counts", I, [None]),
         value("back", F, [12])], [constant("two", np.float32(2))])


def columns():
    """The different columns of integers in the order of the data, and the count of each."""
    return helper.make_graph([
        node("Unique", ["x"], ["y", "", "", "counts"], axis=1, sorted=0), node("Shape", ["y"], ["size"])],
        "columns", [value("x", I, [2, 9])],
        [value("y", I, [2, None]), value("counts", I, [None]), value("size", I, [2])])


def branch(*nodes, initializers=(), output=("side", I)):
    """A branch without inputs."""
    return helper.make_graph(list(nodes), "side", [], [value(*output, [None])], list(initializers))


def emptied():
    """A search among found elements, unless there are none: a branch decided by a size."""
    return helper.make_graph([
        node("Greater", ["x", "low"], ["mask"]), node("NonZero", ["mask"], ["at"]),
        node("Squeeze", ["at", "front"], ["rows"]), node("Gather", ["x", "rows"], ["kept"]),
        node("Shape", ["kept"], ["size"]), node("ReduceProd", ["size"], ["count"], keepdims=0),
        node("Equal", ["count", "none"], ["empty"]),
        node("If", ["empty"], ["found"], name="unless",
             then_branch=branch(node("Constant", [], ["side"], value=constant("", np.zeros(0, np.int64)))),
             else_branch=branch(
                 node("Less", ["kept", "high"], ["small"]), node("NonZero", ["small"], ["places"]),
                 node("Squeeze", ["places", "front"], ["all"]), node("Slice", ["all", "front", "three"], ["side"]))),
        node("Gather", ["kept", "found"], ["inner"]), node("Mul", ["inner", "high"], ["y"])],
        "emptied", [value("x", F, [12])], [value("y", F, [None]), value("found", I, [None])],
        [constant("low", np.float32(-0.5)), constant("high", np.float32(0.5)), constant("front", np.int64([0])),
         constant("three", np.int64([3])), constant("none", np.int64(0))])


def sides():
    """A branch decided by the data, whose sides differ in size: one computes its own size, by a branch inside it."""
    inner = helper.make_graph(
        [node("Compress", ["x", "flags"], ["inner_side"])], "inner", [], [value("inner_side", F, [None])])
    whole = helper.make_graph([node("Neg", ["x"], ["inner_whole"])], "whole", [], [value("inner_whole", F, [None])])
    return helper.make_graph([
        node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["positive"]),
        node("If", ["positive"], ["chosen"], name="outer",
             then_branch=branch(
                 node("If", ["deeper"], ["picked"], name="inner", then_branch=inner, else_branch=whole),
                 node("Mul", ["picked", "two"], ["side"]), initializers=[constant("two", np.float32(2))], output=("side", F)),
             else_branch=branch(node("Concat", ["x", "x"], ["side"], axis=0), output=("side", F))),
        node("Neg", ["chosen"], ["y"])],
        "sides", [value("x", F, [6]), value("flags", B, [6]), value("deeper", B, [])], [value("y", F, [None])],
        [constant("zero", np.float32(0))])


def occurring():
    """The different elements as ONNX Runtime's own operator finds them: in the order in which they come."""
    return helper.make_graph([
        node("Unique", ["x"], ["values", "inverse", "counts"], domain="com.microsoft"),
        node("Mul", ["values", "two"], ["y"])],
        "occurring", [value("x", F, [10])],
        [value("y", F, [None]), value("inverse", I, [10]), value("counts", I, [None])],
        [constant("two", np.float32(2))])


def cached():
    """An attention with room for eight keys, of which as many count as an input says."""
    cache = [1, 1, 8, 16]
    return helper.make_graph([
        node("GroupQueryAttention", ["q", "k", "v", "keys", "values", "last", "total"], ["y", "key", "value"],
             domain="com.microsoft", num_heads=2, kv_num_heads=1)],
        "cached", [value("q", F, [1, 2, 32]), value("k", F, [1, 2, 16]), value("v", F, [1, 2, 16]),
                   value("keys", F, cache), value("values", F, cache), value("last", TensorProto.INT32, [1]),
                   value("total", TensorProto.INT32, [])],
        [value("y", F, [1, 2, 32]), value("key", F, cache), value("value", F, cache)])


def inputs_of(name, random):
    """Sets of inputs that find different sizes, none and all included."""
    def floats(*shape, shift=0.0):
        return (random.uniform(-1, 1, shape) + shift).astype(np.float32)
    if name == "occurring":
        return [{"x": np.float32(random.integers(-high, high, 10))} for high in (1, 3, 1000)]
    if name == "cached":
        sets = []
        for total in (2, 5, 8):
            past = [floats(1, 1, 8, 16) * (np.arange(8) < total - 2)[:, None].astype(np.float32) for _ in range(2)]
            sets.append({"q": floats(1, 2, 32), "k": floats(1, 2, 16), "v": floats(1, 2, 16), "keys": past[0],
                         "values": past[1], "last": np.int32([total - 1]), "total": np.int32(total)})
        return sets
    if name == "distinct":
        return [{"x": np.float32(random.integers(-high, high, (3, 4)))} for high in (1, 3, 1000)]
    if name == "columns":
        return [{"x": random.integers(0, high, (2, 9))} for high in (1, 2, 1000)]
    if name == "places":
        return [{"x": floats(3, 4) * (random.uniform(0, 1, (3, 4)) < p)} for p in (0.5, 0, 2)]
    if name == "sides":
        return [{"x": floats(6, shift=s), "flags": random.uniform(0, 1, 6) < 0.6, "deeper": np.array(b)}
                for s, b in ((2, True), (2, False), (-2, True))]
    if name in ("picked", "twice", "emptied"):
        shape = (3, 4) if name == "picked" else (12,)
        return [{"x": floats(*shape, shift=s)} for s in (0, -3, 3, 0.2)]
    if name == "compress":
        return [{"x": floats(3, 4), "c": floats(4, shift=s), "flags": random.uniform(0, 1, 9) < p}
                for s, p in ((0, 0.5), (-3, 0), (3, 2))]
    if name in ("suppressed", "images"):
        images, classes, boxes = (1, 3, 24) if name == "suppressed" else (2, 4, 16)
        sets = []
        for least in (0.0, 0.2, -0.8):
            centre, size = random.uniform(0, 4, (images, boxes, 2)), random.uniform(0.5, 2, (images, boxes, 2))
            corners = np.concatenate([centre - size / 2, centre + size / 2], axis=2)
            given = corners if name == "suppressed" else np.concatenate([centre, size], axis=2)
            sets.append({"boxes": given.astype(np.float32),
                         "scores": (random.uniform(0, 1, (images, classes, boxes)) + least).astype(np.float32)})
        return sets
    if name == "shapes":
        return [{"x": np.float32(x)} for x in ([1, 0, 2, 0, 1, 1], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0])]
    if name == "given":
        return [{"x": floats(12), "shape": np.int64(s), "trips": np.int64(n), "start": floats(2)}
                for s, n in (([3, 4], 2), ([-1, 2], 0), ([12, 1], 5))]
    if name == "boxes":
        sets = [[[0, 0, 5, 3]], [[1, 1, 2, 2], [0, 0, 21, 17], [3, 2, 9, 16]], [[4, 4, 4, 4], [2.5, 1.25, 6.5, 5]]]
        return [{"x": floats(2, 3, 9, 11), "boxes": np.float32(b), "images": np.arange(len(b)) % 2} for b in sets]
    return [{"x": floats(3, shift=s), "start": np.array(b)} for s, b in ((20, True), (0, True), (20, False), (900, True))]


def boxes():
    """Boxes that have samples by their sizes, once half a pixel earlier, which lets a box be as small as it is."""
    return helper.make_graph([
        node("RoiAlign", ["x", "boxes", "images"], ["y"], output_height=2, output_width=3, spatial_scale=0.5),
        node("RoiAlign", ["x", "boxes", "images"], ["z"], output_height=3, output_width=2, mode="max",
             coordinate_transformation_mode="output_half_pixel")],
        "boxes", [value("x", F, [2, 3, 9, 11]), value("boxes", F, ["n", 4]), value("images", I, ["n"])],
        [value("y", F, ["n", 3, 2, 3]), value("z", F, ["n", 3, 3, 2])])


def reshaped():
    """A prime number of elements: the shape that is made up for a sample run does not hold them."""
    return helper.make_graph(
        [node("Reshape", ["x", "shape"], ["r"]), node("Relu", ["r"], ["y"])], "reshaped",
        [value("x", F, [7919]), value("shape", I, [2])], [value("y", F, [None, None])])


if __name__ == "__main__":
    write(HERE, (places, picked, twice, compress, suppressed, images, shapes, given, growing,
                 distinct, columns, emptied, sides, occurring, cached, boxes), inputs_of)
    write(HERE / "Unsampled", (reshaped,), lambda name, random: [])
