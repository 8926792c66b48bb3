"""DETR with seeded random weights: a ResNet-50, an encoder of its positions, and a decoder of object queries."""

import numpy as np
from onnx import TensorProto

from convolutional_models import resnet50_body
from transformer_network import TransformerNetwork

SIZE = 448


def sine_positions(rows, columns, width):
    """Encodes the positions of a map, [rows columns, 1, width]: half of the numbers encode the row, half the column,
    in sines and cosines."""
    half = width // 2
    wavelengths = 10000 ** (2 * (np.arange(half) // 2) / half)
    angles = [2 * np.pi * np.arange(1, count + 1)[:, None] / count / wavelengths for count in (rows, columns)]
    for each in angles:
        each[:, 0::2], each[:, 1::2] = np.sin(each[:, 0::2]), np.cos(each[:, 1::2])
    down = np.broadcast_to(angles[0][:, None], (rows, columns, half))
    across = np.broadcast_to(angles[1][None], (rows, columns, half))
    return np.concatenate([down, across], axis=-1).reshape(rows * columns, 1, width)


def detr_resnet50(seed=51, width=256, heads=8, hidden=2048, layers=6, queries=100, classes=92):
    """Carion et al., "End-to-End Object Detection with Transformers" (2020), at 448x448: input "image" [N, 3, 448, 448],
    outputs "logits" [N, 100, 92] and "boxes" [N, 100, 4]."""
    net = TransformerNetwork("detr_resnet50", seed)

    def added(x, y):
        return net.node("Add", [x, y])

    def attended(x, query, key, value):
        return net.layer_normalized(added(x, net.attention(query, key, value, width, heads)), width)

    def widened(x):
        return net.layer_normalized(added(x, net.perceptron(x, width, hidden, net.relu)), width)

    maps, channels = resnet50_body(net)
    maps = net.convolution(maps, channels, width, 1, gain=1.0)
    side = SIZE // 32
    batch = net.size(maps, 0)
    memory = net.transposed_as(net.reshaped(maps, [batch, width, side * side]), 2, 0, 1)
    places = net.constant("places", sine_positions(side, side, width))
    for _ in range(layers):
        placed = added(memory, places)
        memory = widened(attended(memory, placed, placed, memory))
    asked = net.constant("queries", net.random.standard_normal((queries, 1, width)))
    asked = net.node("Expand", [asked, net.together([1, batch, 1])])
    answer = net.node("ConstantOfShape", [net.node("Shape", [asked])])
    placed = added(memory, places)
    for _ in range(layers):
        query = added(answer, asked)
        answer = attended(answer, query, query, answer)
        answer = widened(attended(answer, added(answer, asked), placed, memory))
    answer = net.transposed_as(net.layer_normalized(answer, width), 1, 0, 2)
    net.named(net.linear(answer, width, classes), "logits")
    corners = net.relu(net.linear(net.relu(net.linear(answer, width, width, gain=2.0)), width, width, gain=2.0))
    net.named(net.node("Sigmoid", [net.linear(corners, width, 4)]), "boxes")
    return net.model({"image": (TensorProto.FLOAT, ["N", 3, SIZE, SIZE])},
                     {"logits": (TensorProto.FLOAT, ["N", queries, classes]),
                      "boxes": (TensorProto.FLOAT, ["N", queries, 4])})
