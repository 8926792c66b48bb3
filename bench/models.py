"""Builds the networks that the comparison runs, with seeded random weights.

ResNet-50 v1.5, EfficientNet-B0 and MobileNetV2 at 224x224, float32, ONNX opset 13, batch dimension "N", input "image",
outputs "logits" and "probs"; and an encoder of four transformer layers, 256 wide, with a sequence of length "S". Batch normalization is folded into the convolutions, as an export in evaluation mode has
it. Weights are He-scaled (variance 2 / fan-in) and the last convolution of a residual branch is scaled down, so that
activations stay finite and of order one. Speed does not depend on the values; agreement between runtimes is checked
on the same file.

Usage: models.py DIRECTORY [NAME ...]
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13
CLASSES = 1000


class Network:
    """An ONNX graph under construction; every method returns the name of the value it adds."""

    def __init__(self, name, seed):
        self.name = name
        self.random = np.random.default_rng(seed)
        self.nodes = []
        self.initializers = []

    def constant(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype=np.float32), name))
        return name

    def node(self, operator, inputs, **attributes):
        output = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def convolution(self, x, channels_in, channels_out, kernel, stride=1, group=1, gain=2.0):
        """A convolution padded so that stride 1 keeps the size, with bias; weight variance gain / fan-in."""
        fan_in = channels_in // group * kernel * kernel
        shape = (channels_out, channels_in // group, kernel, kernel)
        weight = self.random.standard_normal(shape) * np.sqrt(gain / fan_in)
        name = f"conv{len(self.nodes)}"
        inputs = [x, self.constant(f"{name}.weight", weight),
                  self.constant(f"{name}.bias", self.random.standard_normal(channels_out) * 0.05)]
        pad = kernel // 2
        return self.node("Conv", inputs, kernel_shape=[kernel, kernel], strides=[stride, stride],
                         pads=[pad, pad, pad, pad], dilations=[1, 1], group=group)

    def relu(self, x):
        return self.node("Relu", [x])

    def relu6(self, x):
        if not any(t.name == "six" for t in self.initializers):
            self.constant("zero", 0.0)
            self.constant("six", 6.0)
        return self.node("Clip", [x, "zero", "six"])

    def silu(self, x):
        return self.node("Mul", [x, self.node("Sigmoid", [x])])

    def classifier(self, x, channels):
        pooled = self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)
        weight = self.random.standard_normal((CLASSES, channels)) * np.sqrt(1 / channels)
        inputs = [pooled, self.constant("classifier.weight", weight),
                  self.constant("classifier.bias", np.zeros(CLASSES))]
        self.nodes.append(helper.make_node("Gemm", inputs, ["logits"], name="classifier", transB=1))
        self.nodes.append(helper.make_node("Softmax", ["logits"], ["probs"], name="softmax", axis=1))

    def model(self):
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 3, 224, 224])
        outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", CLASSES]) for n in ("logits", "probs")]
        graph = helper.make_graph(self.nodes, self.name, [image], outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def resnet50(seed=50):
    """He et al., "Deep Residual Learning for Image Recognition" (2015); v1.5: the stride is on the 3x3 convolution."""
    net = Network("resnet50", seed)
    x = net.relu(net.convolution("image", 3, 64, 7, stride=2))
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for index in range(blocks):
            step = stride if index == 0 else 1
            branch = net.relu(net.convolution(x, channels, width, 1))
            branch = net.relu(net.convolution(branch, width, width, 3, stride=step))
            branch = net.convolution(branch, width, 4 * width, 1, gain=0.2)
            shortcut = x if index else net.convolution(x, channels, 4 * width, 1, stride=step, gain=1.0)
            x = net.relu(net.node("Add", [branch, shortcut]))
            channels = 4 * width
    net.classifier(x, channels)
    return net.model()


def mobilenet_v2(seed=2):
    """Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018), table 2, width 1.0."""
    net = Network("mobilenet_v2", seed)
    x = net.relu6(net.convolution("image", 3, 32, 3, stride=2))
    channels = 32
    for expansion, width, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                             (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for index in range(blocks):
            step = stride if index == 0 else 1
            hidden = channels * expansion
            branch = x if expansion == 1 else net.relu6(net.convolution(x, channels, hidden, 1))
            branch = net.relu6(net.convolution(branch, hidden, hidden, 3, stride=step, group=hidden))
            residual = step == 1 and channels == width
            branch = net.convolution(branch, hidden, width, 1, gain=0.2 if residual else 1.0)
            x = net.node("Add", [x, branch]) if residual else branch
            channels = width
    net.classifier(net.relu6(net.convolution(x, channels, 1280, 1)), 1280)
    return net.model()


def efficientnet_b0(seed=0):
    """Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks" (2019), table 1."""
    net = Network("efficientnet_b0", seed)
    x = net.silu(net.convolution("image", 3, 32, 3, stride=2))
    channels = 32
    for expansion, width, blocks, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5),
                                                     (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
                                                     (6, 320, 1, 1, 3)):
        for index in range(blocks):
            step = stride if index == 0 else 1
            hidden = channels * expansion
            branch = x if expansion == 1 else net.silu(net.convolution(x, channels, hidden, 1))
            branch = net.silu(net.convolution(branch, hidden, hidden, kernel, stride=step, group=hidden, gain=2.8))
            squeezed = net.node("GlobalAveragePool", [branch])
            squeezed = net.silu(net.convolution(squeezed, hidden, channels // 4, 1))
            gate = net.node("Sigmoid", [net.convolution(squeezed, channels // 4, hidden, 1, gain=1.0)])
            residual = step == 1 and channels == width
            branch = net.convolution(net.node("Mul", [branch, gate]), hidden, width, 1, gain=1.7 if residual else 5.5)
            x = net.node("Add", [x, branch]) if residual else branch
            channels = width
    net.classifier(net.silu(net.convolution(x, channels, 1280, 1)), 1280)
    return net.model()


def encoder(seed=4, layers=4, width=256, heads=4, hidden=1024, words=8192):
    """A transformer encoder (Vaswani et al., 2017) that normalizes after each addition: input "ids" [1, S], int64,
    output "states" [1, S, 256]. Its reshapes compute their sizes from the shape of their input, as exporters write them."""
    net = Network("encoder", seed)

    def whole(name, values):
        net.initializers.append(numpy_helper.from_array(np.asarray(values, dtype=np.int64), name))
        return name

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
    whole("one", 1), whole("front", [0]), whole("batch", [1]), whole("heads", [heads, width // heads])
    whole("joined", [1, -1, width])
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
    net.nodes[-1].output[0] = "states"
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "S"])
    states = helper.make_tensor_value_info("states", TensorProto.FLOAT, [1, "S", width])
    graph = helper.make_graph(net.nodes, net.name, [ids], [states], net.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    return model


BUILDERS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "efficientnet_b0": efficientnet_b0, "encoder": encoder}


def build(directory, name):
    """The path of the named model in `directory`, built on first use."""
    path = pathlib.Path(directory) / f"{name}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        onnx.save(BUILDERS[name](), partial)
        partial.rename(path)
    return path


if __name__ == "__main__":
    for wanted in sys.argv[2:] or BUILDERS:
        print(build(sys.argv[1], wanted))
