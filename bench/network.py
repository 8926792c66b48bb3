"""An ONNX graph under construction, for the networks of models.py."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13
CLASSES = 1000
IMAGE = {"image": (TensorProto.FLOAT, ["N", 3, 224, 224])}
CLASSIFIED = {name: (TensorProto.FLOAT, ["N", CLASSES]) for name in ("logits", "probs")}


class Network:
    """An ONNX graph under construction; every method returns the name of the value it adds."""

    def __init__(self, name, seed, opset=OPSET):
        self.name = name
        self.opset = opset
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

    def reduced(self, x, channels_in, channels_out, kernel):
        """A convolution of patches that do not overlap."""
        fan_in = channels_in * kernel * kernel
        weight = self.random.standard_normal((channels_out, channels_in, kernel, kernel)) * np.sqrt(1 / fan_in)
        name = f"patches{len(self.nodes)}"
        inputs = [x, self.constant(f"{name}.weight", weight),
                  self.constant(f"{name}.bias", self.random.standard_normal(channels_out) * 0.05)]
        return self.node("Conv", inputs, kernel_shape=[kernel, kernel], strides=[kernel, kernel], pads=[0, 0, 0, 0],
                         dilations=[1, 1], group=1)

    def transposed(self, x, channels_in, channels_out, kernel):
        """A transposed convolution that multiplies the size by its kernel's."""
        shape = (channels_in, channels_out, kernel, kernel)
        weight = self.random.standard_normal(shape) * np.sqrt(2 / channels_in)
        name = f"transposed{len(self.nodes)}"
        return self.node("ConvTranspose", [x, self.constant(f"{name}.weight", weight)], kernel_shape=[kernel, kernel],
                         strides=[kernel, kernel])

    def normalized(self, x, channels):
        """Adds batch normalization that cannot be folded into a convolution."""
        name = f"norm{len(self.nodes)}"
        scale = self.constant(f"{name}.scale", 1 + 0.1 * self.random.standard_normal(channels))
        others = [self.constant(f"{name}.{part}", 0.1 * self.random.standard_normal(channels))
                  for part in ("shift", "mean")]
        variance = self.constant(f"{name}.variance", 1 + self.random.random(channels))
        return self.node("BatchNormalization", [x, scale, *others, variance])

    def shuffled(self, x, channels, size, groups=2):
        """Shuffles channels of `groups` groups, on maps of size x size."""
        apart = self.integers(f"apart{len(self.nodes)}", [-1, groups, channels // groups, size, size])
        whole = self.integers(f"whole{len(self.nodes)}", [-1, channels, size, size])
        split = self.node("Transpose", [self.node("Reshape", [x, apart])], perm=[0, 2, 1, 3, 4])
        return self.node("Reshape", [split, whole])

    def integers(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype=np.int64), name))
        return name

    def scaled(self, x, values):
        """x times one number for each channel."""
        name = self.constant(f"scale{len(self.nodes)}", np.asarray(values).reshape(-1, 1, 1))
        return self.node("Mul", [x, name])

    def hard_swish(self, x):
        return self.node("Mul", [x, self.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)])

    def relu(self, x):
        return self.node("Relu", [x])

    def relu6(self, x):
        if not any(t.name == "six" for t in self.initializers):
            self.constant("zero", 0.0)
            self.constant("six", 6.0)
        return self.node("Clip", [x, "zero", "six"])

    def silu(self, x):
        return self.node("Mul", [x, self.node("Sigmoid", [x])])

    def pooled(self, x):
        """The mean of each channel, [N, channels]."""
        return self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)

    def classifier(self, x, channels):
        self.classified(self.pooled(x), channels)

    def classified(self, x, channels):
        """The classes of x, [N, channels], as outputs "logits" and "probs"."""
        weight = self.random.standard_normal((CLASSES, channels)) * np.sqrt(1 / channels)
        inputs = [x, self.constant("classifier.weight", weight), self.constant("classifier.bias", np.zeros(CLASSES))]
        self.nodes.append(helper.make_node("Gemm", inputs, ["logits"], name="classifier", transB=1))
        self.nodes.append(helper.make_node("Softmax", ["logits"], ["probs"], name="softmax", axis=1))

    def named(self, x, name):
        """x, made by the latest node, under the name of an output."""
        if self.nodes[-1].output[0] != x:
            raise ValueError(f"{x} is not made by the latest node")
        self.nodes[-1].output[0] = name
        return name

    def model(self, inputs=IMAGE, outputs=CLASSIFIED, domains=()):
        """`inputs` and `outputs` have the type and the shape of each by its name, `domains` the further operator
        domains."""
        described = [[helper.make_tensor_value_info(name, *about) for name, about in values.items()]
                     for values in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, self.name, *described, self.initializers)
        opsets = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        onnx.checker.check_model(model)
        return model
