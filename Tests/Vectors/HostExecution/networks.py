"""Writes neural networks with loops and branches whose sizes are known for each iteration, or for the side that is
taken, made with coremltools' builder, and their expected results, from NumPy. Run after `generate.py`, which
rewrites the folder.

    .venv/bin/pip install coremltools==9.0 numpy
    .venv/bin/python Tests/Vectors/HostExecution/networks.py
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


def write(name, inputs, outputs, build, compute, sets, has_five_axes=False):
    """inputs: shapes by name; build: adds layers; compute: inputs by name to outputs by name; sets: inputs by name."""
    features = [(key, datatypes.Array(*shape)) for key, shape in inputs.items()]
    builder = NeuralNetworkBuilder(features, [(key, None) for key in outputs], disable_rank5_shape_mapping=not has_five_axes)
    build(builder)
    for feature in list(builder.spec.description.input) + list(builder.spec.description.output):
        feature.type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
    (HERE / f"{name}.mlmodel").write_bytes(builder.spec.SerializeToString(deterministic=True))
    for number, values in enumerate(sets):
        values = {key: np.asarray(value, np.float32) for key, value in values.items()}
        expected = [(key, np.asarray(value, np.float32)) for key, value in compute(**values).items()]
        header = {"case": f"{name}_{number}", "tolerance": {"absolute": 2e-6, "relative": 1e-5}}
        (HERE / f"{name}_{number}.kv").write_bytes(kv.encode(header, values.items(), expected))


def networks(layer):
    """Builders of the networks of a loop or branch."""
    if layer.HasField("loop"):
        parts = (layer.loop.conditionNetwork, layer.loop.bodyNetwork)
    else:
        parts = (layer.branch.ifBranch, layer.branch.elseBranch)
    return tuple(NeuralNetworkBuilder(nn_spec=part) for part in parts)


def number(nn, name, value):
    nn.add_load_constant_nd(name, name, np.array([value], np.float32), (1,))


def longer_network(random):
    """The carried value grows in each iteration, as often as an input says; a layer after the loop reads its length."""
    def build(nn):
        nn.add_copy("c", "x", "long")
        _, body = networks(nn.add_loop("grow", input_name="trips"))
        body.add_elementwise("half", ["long"], "half", "MULTIPLY", alpha=0.5)
        body.add_concat_nd("join", ["long", "half"], "joined", axis=0)
        body.add_copy("keep", "joined", "long")
        nn.add_activation("relu", "RELU", "long", "y")
        nn.add_get_shape("shape", "long", "count")

    def compute(x, trips):
        for _ in range(int(trips[0])):
            x = np.concatenate([x, x * np.float32(0.5)])
        return {"y": np.maximum(x, 0), "count": np.array(x.shape)}
    write("longer_network", {"x": (3,), "trips": (1,)}, ("y", "count"), build, compute,
          [{"x": random.uniform(-1, 1, 3), "trips": [n]} for n in (2, 0, 4, 1)])


def fixed_network(random):
    """As many iterations as the layer says, in arrays of five axes; each joins channels."""
    def build(nn):
        nn.add_copy("c", "x", "wide")
        _, body = networks(nn.add_loop("widen", max_iterations=2))
        body.add_elementwise("concat", ["wide", "x"], "joined", "CONCAT")
        body.add_copy("keep", "joined", "wide")
        nn.add_elementwise("twice", ["wide"], "y", "MULTIPLY", alpha=2.0)

    def compute(x):
        return {"y": (2 * np.concatenate([x, x, x]))[None, None]}
    write("fixed_network", {"x": (2, 3, 1)}, ("y",), build, compute,
          [{"x": random.uniform(-1, 1, (2, 3, 1))} for _ in range(2)], has_five_axes=True)


def found_network(random):
    """Each iteration adds the positive elements and takes a step; a condition network ends the loop if there are
    none, or almost none."""
    def build(nn):
        number(nn, "sum", 0)
        nn.add_copy("c", "x", "rest")
        test, body = networks(nn.add_loop("until none", condition="any"))
        test.add_activation("t", "RELU", "rest", "above")
        test.add_reduce_max("m", "above", "most", axes=[0], keepdims=True)
        test.add_elementwise("small", ["most"], "any", "MULTIPLY", alpha=1e-4)
        body.add_greater_than("g", ["rest"], "mask", alpha=0.0)
        body.add_where_nonzero("w", "mask", "places")
        body.add_gather_nd("p", ["rest", "places"], "picked")
        body.add_reduce_sum("s", "picked", "own", axes=[0], keepdims=True)
        body.add_add_broadcastable("a", ["sum", "own"], "grown")
        body.add_copy("ks", "grown", "sum")
        body.add_elementwise("step", ["rest"], "less", "ADD", alpha=-0.25)
        body.add_copy("kr", "less", "rest")
        nn.add_elementwise("y", ["sum"], "y", "MULTIPLY", alpha=2.0)
        nn.add_elementwise("r", ["rest"], "left", "ADD", alpha=0.0)

    def compute(x):
        total = np.float32(0)
        while np.float32(1e-4) * max(x.max(), 0) > 1e-6:
            total, x = total + x[x > 0].sum(dtype=np.float32), x - np.float32(0.25)
        return {"y": [2 * total], "left": x}
    write("found_network", {"x": (6,)}, ("y", "left"), build, compute,
          [{"x": x} for x in (random.uniform(-1, 1, 6), -random.uniform(0, 1, 6), random.uniform(0, 2, 6),
                              [0.005, -1, 0, 0, 0, 0], [0.02, -1, 0, 0, 0, 0])])


def sides_network(random):
    """One side adds what is positive; the other takes as much as data says, and hands on what is there."""
    def build(nn):
        number(nn, "kept", 7)
        nn.add_reduce_sum("t", "x", "total", axes=[0], keepdims=True)
        then, other = networks(nn.add_branch("side", "n"))
        then.add_greater_than("g", ["x"], "mask", alpha=0.0)
        then.add_where_nonzero("w", "mask", "places")
        then.add_gather_nd("p", ["x", "places"], "picked")
        then.add_reduce_sum("s", "picked", "part", axes=[0], keepdims=True)
        then.add_elementwise("k", ["total"], "new", "ADD", alpha=1.0)
        then.add_copy("c", "new", "kept")
        other.add_elementwise("n", ["x"], "part", "ADD", alpha=-1.0)
        nn.add_elementwise("y", ["part"], "y", "MULTIPLY", alpha=2.0)
        nn.add_elementwise("z", ["kept"], "z", "ADD", alpha=0.0)

    def compute(x, n):
        if abs(n[0]) > 1e-6:
            return {"y": [2 * x[x > 0].sum(dtype=np.float32)], "z": [x.sum(dtype=np.float32) + 1]}
        return {"y": 2 * (x - 1), "z": [7]}
    write("sides_network", {"x": (5,), "n": (1,)}, ("y", "z"), build, compute,
          [{"x": random.uniform(-1, 1, 5), "n": [n]} for n in (1, 0, -0.5, 9e-7, 2e-6)])


def list_network(random):
    """A list that each iteration writes to and lengthens if it is full; the number of iterations of an inner loop is
    data too."""
    def build(nn):
        nn.add_load_constant_nd("list", "list", np.zeros((1, 2), np.float32), (1, 2))
        number(nn, "i", 0)
        number(nn, "zero", 0)
        _, body = networks(nn.add_loop("write", input_name="trips"))
        body.add_get_shape("shape", "list", "shape")
        body.add_slice_static("rows", "shape", "rows", [0], [1], [1], [False], [False])
        body.add_subtract_broadcastable("room", ["i", "rows"], "over")
        body.add_greater_than("full", ["over"], "is_full", alpha=0.0, use_greater_than_equal=True)
        then, _ = networks(body.add_branch("grow", "is_full"))
        then.add_load_constant_nd("row", "row", np.zeros((1, 2), np.float32), (1, 2))
        then.add_concat_nd("join", ["list", "row"], "joined", axis=0)
        then.add_copy("keep", "joined", "list")
        body.add_gather("pick", ["x", "i"], "line", axis=0)
        body.add_copy("from", "line", "value")
        _, inner = networks(body.add_loop("double", input_name="i"))
        inner.add_concat_nd("inner join", ["value", "value"], "two", axis=0)
        inner.add_copy("inner keep", "two", "value")
        body.add_reduce_sum("sum", "value", "sum", axes=[0], keepdims=True)
        body.add_expand_dims("place", "i", "place", [0])
        body.add_scatter_nd("write", ["list", "place", "sum"], "written")
        body.add_copy("kept", "written", "list")
        body.add_elementwise("next", ["i"], "next", "ADD", alpha=1.0)
        body.add_copy("ki", "next", "i")
        nn.add_elementwise("y", ["list"], "y", "ADD", alpha=0.0)

    def compute(x, trips):
        rows = [x[i] * np.float32(2 ** i) for i in range(int(trips[0]))]
        return {"y": np.array(rows) if rows else np.zeros((1, 2))}
    write("list_network", {"x": (4, 2), "trips": (1,)}, ("y",), build, compute,
          [{"x": random.uniform(-1, 1, (4, 2)), "trips": [n]} for n in (1, 4, 0, 3)])


def broken_network(random):
    """An iteration ends the loop if the carried value is long enough, or continues with the next one if a row's sum
    is small; a value computed first in an iteration is read after the loop."""
    def build(nn):
        nn.add_load_constant_nd("list", "list", np.zeros((1, 2), np.float32), (1, 2))
        number(nn, "i", -1)
        _, body = networks(nn.add_loop("collect", max_iterations=5))
        body.add_elementwise("next", ["i"], "next", "ADD", alpha=1.0)
        body.add_copy("ki", "next", "i")
        body.add_gather("pick", ["x", "i"], "line", axis=0)
        body.add_reduce_sum("s", "line", "total", axes=[0, 1], keepdims=False)
        body.add_less_than("low", ["total"], "is_low", alpha=0.0)
        then, _ = networks(body.add_branch("skip", "is_low"))
        then.add_loop_continue("too little")
        body.add_get_shape("shape", "list", "shape")
        body.add_slice_static("rows", "shape", "rows", [0], [1], [1], [False], [False])
        body.add_subtract_broadcastable("room", ["rows", "most"], "over")
        body.add_greater_than("full", ["over"], "is_full", alpha=0.0, use_greater_than_equal=True)
        full, _ = networks(body.add_branch("leave", "is_full"))
        full.add_loop_break("long enough")
        body.add_concat_nd("join", ["list", "line"], "joined", axis=0)
        body.add_copy("keep", "joined", "list")
        body.add_elementwise("t", ["total"], "last", "MULTIPLY", alpha=2.0)
        nn.add_elementwise("y", ["list"], "y", "ADD", alpha=0.0)
        nn.add_elementwise("z", ["last"], "z", "ADD", alpha=0.0)
        nn.add_elementwise("n", ["i"], "n", "ADD", alpha=0.0)

    def compute(x, most):
        rows, last, number = [np.zeros(2, np.float32)], np.float32(0), -1
        for _ in range(5):
            number += 1
            if x[number].sum(dtype=np.float32) < 0:
                continue
            if len(rows) >= most[0]:
                break
            rows.append(x[number])
            last = 2 * x[number].sum(dtype=np.float32)
        return {"y": np.array(rows), "z": [last], "n": [number]}
    write("broken_network", {"x": (5, 2), "most": (1,)}, ("y", "z", "n"), build, compute,
          [{"x": random.uniform(-1, 1, (5, 2)) + 0.1, "most": [n]} for n in (3, 1, 6, 2)]
          + [{"x": -random.uniform(0, 1, (5, 2)), "most": [2]}])


def searched_network(random):
    """Breaks in branches on either side, in a loop with a condition network and within another loop: the inner one ends at
    its own breaks alone. Behind a break the condition is not asked."""
    def build(nn):
        nn.add_copy("c", "x", "rest")
        nn.add_load_constant_nd("found", "found", np.zeros(1, np.float32), (1,))
        test, body = networks(nn.add_loop("search", condition="any"))
        test.add_reduce_max("m", "rest", "most", axes=[0], keepdims=True)
        test.add_activation("any", "RELU", "most", "any")
        body.add_greater_than("g", ["rest"], "mask", alpha=0.5)
        body.add_where_nonzero("w", "mask", "places")
        body.add_gather_nd("p", ["rest", "places"], "picked")
        body.add_reduce_sum("s", "picked", "own", axes=[0], keepdims=True)
        body.add_greater_than("much", ["own"], "is_much", alpha=2.0)
        then, other = networks(body.add_branch("how much", "is_much"))
        then.add_concat_nd("two", ["found", "own"], "joined", axis=0)
        then.add_greater_than("is very", ["own"], "is_very", alpha=3.0)
        very, _ = networks(then.add_branch("very much", "is_very"))
        very.add_copy("all", "joined", "found")
        very.add_loop_break("found enough")
        then.add_copy("part", "joined", "found")
        other.add_greater_than("any left", ["own"], "is_some", alpha=0.0)
        _, none = networks(other.add_branch("some", "is_some"))
        none.add_loop_break("nothing")
        number(body, "j", 0)
        _, inner = networks(body.add_loop("halve", max_iterations=3))
        inner.add_elementwise("up", ["j"], "more", "ADD", alpha=1.0)
        inner.add_copy("kj", "more", "j")
        inner.add_subtract_broadcastable("difference", ["j", "own"], "over")
        inner.add_greater_than("is over", ["over"], "is_over", alpha=0.0)
        over, _ = networks(inner.add_branch("stop", "is_over"))
        over.add_loop_break("done")
        inner.add_concat_nd("longer", ["found", "j"], "longer", axis=0)
        inner.add_copy("kl", "longer", "found")
        body.add_elementwise("step", ["rest"], "less", "ADD", alpha=-0.3)
        body.add_copy("kr", "less", "rest")
        nn.add_elementwise("y", ["found"], "y", "ADD", alpha=0.0)
        nn.add_elementwise("r", ["rest"], "left", "ADD", alpha=0.0)

    def compute(x):
        rest, found = x, [0]
        while rest.max() > 1e-6:
            own = rest[rest > 0.5].sum(dtype=np.float32)
            if own > 2:
                found = found + [own]
                if own > 3:
                    break
            elif not own > 0:
                break
            for j in range(1, 4):
                if j > own:
                    break
                found = found + [j]
            rest = rest - np.float32(0.3)
        return {"y": found, "left": rest}
    write("searched_network", {"x": (6,)}, ("y", "left"), build, compute,
          [{"x": x} for x in (random.uniform(0, 1, 6), random.uniform(0.4, 0.9, 6), -random.uniform(0, 1, 6),
                              [1.2, 1.1, 0.9, 0.2, 0.1, 0], [0.9, 0.8, 0.7, 0.1, 0, 0], [0.4, 0.3, 0.2, 0.1, 0, 0])])


def deep_network(random):
    """Seven loops in each other, of which the innermost joins."""
    depth = 7

    def build(nn):
        nn.add_copy("c", "x", "long")
        for level in range(depth):
            _, nn = networks(nn.add_loop(f"loop {level}", **({"input_name": "trips"} if level in (0, 6) else {"max_iterations": 1})))
        nn.add_concat_nd("join", ["long", "x"], "joined", axis=0)
        nn.add_copy("keep", "joined", "long")

    def with_end(nn):
        build(nn)
        nn.add_elementwise("y", ["long"], "y", "ADD", alpha=0.0)

    def compute(x, trips):
        return {"y": np.concatenate([x] * (1 + int(trips[0]) ** 2))}
    write("deep_network", {"x": (3,), "trips": (1,)}, ("y",), with_end, compute,
          [{"x": random.uniform(-1, 1, 3), "trips": [n]} for n in (2, 0, 3)])


def tiled_network(random):
    """Each iteration carries twice as much, by another layer than joining, and a branch after the loop returns all
    or a part."""
    def build(nn):
        nn.add_copy("c", "x", "long")
        _, body = networks(nn.add_loop("grow", input_name="trips"))
        body.add_tile("tile", "long", "tiled", reps=[2])
        body.add_copy("keep", "tiled", "long")
        then, other = networks(nn.add_branch("side", "n"))
        then.add_elementwise("twice", ["long"], "part", "MULTIPLY", alpha=2.0)
        other.add_slice_static("s", "long", "part", begin_ids=[1], end_ids=[3], strides=[1], begin_masks=[False], end_masks=[False])
        nn.add_activation("relu", "RELU", "part", "y")
        nn.add_get_shape("shape", "part", "count")

    def compute(x, trips, n):
        long = np.tile(x, 2 ** int(trips[0]))
        part = long * np.float32(2) if n[0] else long[1:3]
        return {"y": np.maximum(part, 0), "count": np.array(part.shape)}
    write("tiled_network", {"x": (3,), "trips": (1,), "n": (1,)}, ("y", "count"), build, compute,
          [{"x": random.uniform(-1, 1, 3), "trips": [t], "n": [n]} for t, n in ((2, 1), (0, 0), (1, 0), (0, 1))])


if __name__ == "__main__":
    random = np.random.default_rng(15)
    for make in (longer_network, fixed_network, found_network, sides_network, list_network, broken_network,
                 searched_network, deep_network, tiled_network):
        make(random)
