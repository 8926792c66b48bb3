"""Transformers with seeded random weights: a vision transformer and two encoders of text."""

import numpy as np
from onnx import TensorProto, numpy_helper

from network import Network
from transformer_network import TransformerNetwork


def vit_b16(seed=16, layers=12, width=768, heads=12, hidden=3072, patch=16):
    """Dosovitskiy et al., "An Image is Worth 16x16 Words" (2020), table 1: ViT-Base, patches of 16 at 224."""
    net = TransformerNetwork("vit_b16", seed)
    places = (224 // patch) ** 2
    x = net.reduced("image", 3, width, patch)
    x = net.transposed_as(net.reshaped(x, [net.size("image", 0), width, places]), 0, 2, 1)
    token = net.constant("token", net.random.standard_normal((1, 1, width)))
    token = net.node("Expand", [token, net.together([net.size(x, 0), 1, width])])
    positions = net.constant("positions", 0.5 * net.random.standard_normal((1, places + 1, width)))
    x = net.node("Add", [net.node("Concat", [token, x], axis=1), positions])
    for _ in range(layers):
        x = net.node("Add", [net.packed_attention(net.layer_normalized(x, width, 1e-6), width, heads, gain=0.2), x])
        x = net.node("Add", [x, net.perceptron(net.layer_normalized(x, width, 1e-6), width, hidden, net.gelu, gain=0.2)])
    first = net.node("Gather", [net.layer_normalized(x, width, 1e-6), net.whole(0)], axis=1)
    net.classified(first, width)
    return net.model()


def minilm(seed=6, layers=6, width=384, heads=12, hidden=1536, words=30522, positions=512):
    """An encoder of the shape of MiniLM-L6 (Wang et al., 2020), a BERT: inputs "ids" and "mask" [N, S], int64, output
    "states" [N, S, 384]."""
    net = TransformerNetwork("minilm", seed)

    def parts(x, *order):
        split = net.reshaped(x, [net.size(x, 0), net.size(x, 1), heads, -1])
        return net.transposed_as(split, *order)

    places = net.node("Range", [net.whole(0), net.size("ids", 1), net.whole(1)])
    tables = [net.constant("words", net.random.standard_normal((words, width))),
              net.constant("positions", net.random.standard_normal((positions, width)))]
    x = net.node("Add", [net.node("Gather", [tables[0], "ids"]), net.node("Gather", [tables[1], places])])
    kept = net.node("Unsqueeze", [net.node("Unsqueeze", ["mask", net.whole([1])]), net.whole([2])])
    kept = net.node("Cast", [kept], to=TensorProto.FLOAT)
    bias = net.node("Mul", [net.node("Sub", [net.scalar(1.0), kept]), net.scalar(-1e4)])
    x = net.layer_normalized(x, width, 1e-12)
    for _ in range(layers):
        query = parts(net.linear(x, width, width), 0, 2, 1, 3)
        key = parts(net.linear(x, width, width), 0, 2, 3, 1)
        value = parts(net.linear(x, width, width), 0, 2, 1, 3)
        scores = net.node("Div", [net.node("MatMul", [query, key]), net.scalar(np.sqrt(width / heads))])
        scores = net.node("Softmax", [net.node("Add", [scores, bias])], axis=-1)
        mixed = net.transposed_as(net.node("MatMul", [scores, value]), 0, 2, 1, 3)
        mixed = net.reshaped(mixed, [net.size(mixed, 0), net.size(mixed, 1), -1])
        x = net.layer_normalized(net.node("Add", [x, net.linear(mixed, width, width)]), width, 1e-12)
        x = net.layer_normalized(net.node("Add", [x, net.perceptron(x, width, hidden, net.gelu)]), width, 1e-12)
    net.named(x, "states")
    return net.model({name: (TensorProto.INT64, ["N", "S"]) for name in ("ids", "mask")},
                     {"states": (TensorProto.FLOAT, ["N", "S", width])})


def encoder(seed=4, layers=4, width=256, heads=4, hidden=1024, words=8192):
    """A transformer encoder (Vaswani et al., 2017) that normalizes after each addition: input "ids" [1, S], int64,
    output "states" [1, S, 256]. Its reshapes compute their sizes from the shape of their input, as exporters write them."""
    net = Network("encoder", seed)

    def linear(x, rows, columns):
        name = f"linear{len(net.nodes)}"
        weight = net.constant(f"{name}.weight", net.random.standard_normal((rows, columns)) * np.sqrt(1 / rows))
        bias = net.constant(f"{name}.bias", net.random.standard_normal(columns) * 0.05)
        return net.node("Add", [net.node("MatMul", [x, weight]), bias])

    def normalized(x):
        centred = net.node("Sub", [x, net.node("ReduceMean", [x], axes=[-1], keepdims=1)])
        variance = net.node("ReduceMean", [net.node("Mul", [centred, centred])], axes=[-1], keepdims=1)
        scaled = net.node("Div", [centred, net.node("Sqrt", [net.node("Add", [variance, "epsilon"])])])
        name = f"norm{len(net.nodes)}"
        scale = net.constant(f"{name}.scale", 1 + net.random.standard_normal(width) * 0.05)
        return net.node("Add", [net.node("Mul", [scaled, scale]), net.constant(f"{name}.bias", np.zeros(width))])

    def split(x, order):
        length = net.node("Gather", [net.node("Shape", [x]), "one"], axis=0)
        shape = net.node("Concat", ["batch", net.node("Unsqueeze", [length, "front"]), "heads"], axis=0)
        return net.node("Transpose", [net.node("Reshape", [x, shape])], perm=order)

    net.constant("epsilon", 1e-5)
    net.constant("root", np.sqrt(width / heads))
    for name, values in (("one", 1), ("front", [0]), ("batch", [1]), ("heads", [heads, width // heads]),
                         ("joined", [1, -1, width])):
        net.integers(name, values)
    x = net.node("Gather", [net.constant("words", net.random.standard_normal((words, width))), "ids"], axis=0)
    for _ in range(layers):
        query, value = (split(linear(x, width, width), [0, 2, 1, 3]) for _ in range(2))
        key = split(linear(x, width, width), [0, 2, 3, 1])
        scores = net.node("Softmax", [net.node("Div", [net.node("MatMul", [query, key]), "root"])], axis=-1)
        joined = net.node("Transpose", [net.node("MatMul", [scores, value])], perm=[0, 2, 1, 3])
        x = normalized(net.node("Add", [x, linear(net.node("Reshape", [joined, "joined"]), width, width)]))
        rise = linear(x, width, hidden)
        half = net.node("Mul", [rise, net.constant(f"half{len(net.nodes)}", 0.5)])
        error = net.node("Erf", [net.node("Div", [rise, net.constant(f"two{len(net.nodes)}", np.sqrt(2))])])
        gelu = net.node("Mul", [half, net.node("Add", [error, net.constant(f"unit{len(net.nodes)}", 1.0)])])
        x = normalized(net.node("Add", [x, linear(gelu, hidden, width)]))
    net.named(x, "states")
    return net.model({"ids": (TensorProto.INT64, [1, "S"])}, {"states": (TensorProto.FLOAT, [1, "S", width])})


def matmuls(seed=12, heads=12, places=197, width=64):
    """Products of two computed tensors in the shapes of attention, which a runtime that fuses attention has in no
    other network: inputs "query", "key" [12, 197, 64], output "sums" [12, 1, 64]. The right operand is transposed in
    some products, rows are whole vectors in some, and the last product has few rows."""
    net = Network("matmuls", seed)
    scores = net.node("MatMul", ["query", net.node("Transpose", ["key"], perm=[0, 2, 1])])
    mixed = net.node("MatMul", [scores, "key"])
    squares = net.node("MatMul", [net.node("Transpose", [mixed], perm=[0, 2, 1]), "query"])
    first = net.node("Gather", [mixed, net.integers("first", [0])], axis=1)
    net.named(net.node("MatMul", [first, squares]), "sums")
    return net.model({name: (TensorProto.FLOAT, [heads, places, width]) for name in ("query", "key")},
                     {"sums": (TensorProto.FLOAT, [heads, 1, width])})


def perceptron_float16(seed=17, rows=197, width=768, hidden=3072):
    """The perceptron of a vision transformer on its own, all in float16: input "rows" [197, 768], output "sums" [197, 768]."""
    net = Network("perceptron_float16", seed)

    def linear(x, inputs, outputs):
        weights = net.random.standard_normal((inputs, outputs)) / np.sqrt(inputs)
        bias = 0.1 * net.random.standard_normal(outputs)
        names = [f"{kind}{len(net.nodes)}" for kind in ("weights", "bias")]
        for name, values in zip(names, (weights, bias)):
            net.initializers.append(numpy_helper.from_array(values.astype(np.float16), name))
        return net.node("Add", [net.node("MatMul", [x, names[0]]), names[1]])

    inner = net.node("Relu", [linear("rows", width, hidden)])
    net.named(net.node("Add", [linear(inner, hidden, width), "rows"]), "sums")
    shape = (TensorProto.FLOAT16, [rows, width])
    return net.model({"rows": shape}, {"sums": shape})
