"""Building blocks of networks with attention, in the form that PyTorch's tracing exporter writes at operator set 17:
sizes are computed from the shapes of values, and Gaussian error linear units are chains around Erf."""

import numpy as np
from onnx import TensorProto

from network import Network

OPSET = 17


class TransformerNetwork(Network):
    def __init__(self, name, seed):
        super().__init__(name, seed, OPSET)

    def scalar(self, value):
        return self.constant(f"scalar{len(self.initializers)}", value)

    def whole(self, values):
        return self.integers(f"whole{len(self.initializers)}", values)

    def size(self, x, axis):
        """Returns the size of x along one axis, a scalar."""
        return self.node("Gather", [self.node("Shape", [x]), self.whole(axis)], axis=0)

    def together(self, sizes):
        """A vector of sizes, each a number or the name of a scalar."""
        return self.node("Concat", [self.node("Unsqueeze", [size, self.whole([0])]) if isinstance(size, str)
                                    else self.whole([size]) for size in sizes], axis=0)

    def reshaped(self, x, sizes):
        return self.node("Reshape", [x, self.together(sizes)])

    def transposed_as(self, x, *order):
        return self.node("Transpose", [x], perm=list(order))

    def linear(self, x, rows, columns, gain=1.0):
        """x times a matrix, plus a bias; weight variance gain / rows."""
        weight = self.random.standard_normal((rows, columns)) * np.sqrt(gain / rows)
        name = f"linear{len(self.nodes)}"
        product = self.node("MatMul", [x, self.constant(f"{name}.weight", weight)])
        return self.node("Add", [self.constant(f"{name}.bias", self.random.standard_normal(columns) * 0.05), product])

    def flat_linear(self, x, rows, columns, gain=1.0):
        """The same for a matrix x, as one Gemm."""
        weight = self.random.standard_normal((columns, rows)) * np.sqrt(gain / rows)
        name = f"linear{len(self.nodes)}"
        bias = self.random.standard_normal(columns) * 0.05
        inputs = [x, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias)]
        return self.node("Gemm", inputs, alpha=1.0, beta=1.0, transB=1)

    def layer_normalized(self, x, width, epsilon=1e-5):
        """Normalizes over the last axis."""
        name = f"norm{len(self.nodes)}"
        scale = self.constant(f"{name}.scale", 1 + 0.1 * self.random.standard_normal(width))
        bias = self.constant(f"{name}.bias", 0.1 * self.random.standard_normal(width))
        return self.node("LayerNormalization", [x, scale, bias], axis=-1, epsilon=epsilon)

    def gelu(self, x):
        error = self.node("Erf", [self.node("Div", [x, self.scalar(np.sqrt(2))])])
        doubled = self.node("Mul", [x, self.node("Add", [error, self.scalar(1.0)])])
        return self.node("Mul", [doubled, self.scalar(0.5)])

    def perceptron(self, x, width, hidden, activation, gain=1.0):
        return self.linear(activation(self.linear(x, width, hidden, gain=2.0)), hidden, width, gain=gain)

    def parted(self, x, width, heads):
        """Returns x [S, N, width] as one matrix for each head of each item, [N heads, S, width / heads]."""
        length, batch = self.size(x, 0), self.size(x, 1)
        every = self.node("Mul", [batch, self.whole(heads)])
        return self.transposed_as(self.reshaped(x, [length, every, width // heads]), 1, 0, 2)

    def packed_attention(self, x, width, heads, gain=1.0):
        """Attention of x [N, S, width] to itself: one product makes queries, keys and values, and the square root of
        the scale multiplies queries and keys."""
        x = self.transposed_as(x, 1, 0, 2)
        length, batch = self.size(x, 0), self.size(x, 1)
        packed = self.reshaped(self.linear(x, width, 3 * width), [length, batch, 3, width])
        packed = self.transposed_as(self.node("Unsqueeze", [packed, self.whole([0])]), 3, 1, 2, 0, 4)
        packed = self.node("Squeeze", [packed, self.whole([3])])
        query, key, value = (
            self.reshaped(self.parted(self.node("Gather", [packed, self.whole(part)], axis=0), width, heads),
                          [batch, heads, length, width // heads]) for part in range(3))
        last = self.node("Slice", [self.node("Shape", [query]), self.whole([-1]), self.whole([np.iinfo(np.int64).max])])
        root = self.node("Sqrt", [self.node("Cast", [last], to=TensorProto.FLOAT)])
        scale = self.node("Sqrt", [self.node("Div", [self.constant(f"one{len(self.nodes)}", [1.0]), root])])
        scores = self.node("MatMul", [self.node("Mul", [query, scale]),
                                      self.node("Mul", [self.transposed_as(key, 0, 1, 3, 2), scale])])
        mixed = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), value])
        flat = self.reshaped(self.transposed_as(mixed, 2, 0, 1, 3), [self.node("Mul", [batch, length]), width])
        return self.transposed_as(self.reshaped(self.flat_linear(flat, width, width, gain), [length, batch, width]), 1, 0, 2)

    def attention(self, query, key, value, width, heads):
        """Attention of a sequence [S, N, width] to another, with a product each for queries, keys and values."""
        length, batch = self.size(query, 0), self.size(query, 1)
        query, key, value = (self.parted(self.linear(x, width, width), width, heads) for x in (query, key, value))
        scaled = self.node("Mul", [query, self.scalar(np.sqrt(heads / width))])
        scores = self.node("MatMul", [scaled, self.transposed_as(key, 0, 2, 1)])
        mixed = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), value])
        flat = self.reshaped(self.transposed_as(mixed, 1, 0, 2), [self.node("Mul", [length, batch]), width])
        return self.reshaped(self.flat_linear(flat, width, width), [length, batch, width])
