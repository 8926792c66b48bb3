"""The layers of an ONNX model that multiply by constant weights, with their inputs, and each as a network of its
own."""

import math
import pathlib
from dataclasses import dataclass, replace

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# The kernel size of the depthwise convolutions that copy their input, and make Kelvin work on blocks of channels.
IDENTITY = 7


@dataclass(frozen=True)
class Layer:
    """A convolution of one image, or a product of rows with a matrix. `pads` are top, left, bottom and right, `weights` those of
    the file."""

    name: str
    input: str
    weightName: str
    weights: np.ndarray
    bias: np.ndarray | None
    isConvolution: bool
    isTransposed: bool = False
    strides: tuple = (1, 1)
    dilations: tuple = (1, 1)
    pads: tuple = (0, 0, 0, 0)
    groups: int = 1
    autoPad: str = "NOTSET"

    @property
    def matrix(self):
        """[depth, columns]"""
        return self.weights.T if self.isTransposed else self.weights

    @property
    def terms(self):
        """The number of products in the sum of each output."""
        return math.prod(self.weights.shape[1:]) if self.isConvolution else self.matrix.shape[0]

    def described(self, x):
        """Its operands in words."""
        shape = "×".join(map(str, x.shape))
        if not self.isConvolution:
            return f"{shape} by {self.matrix.shape[0]}×{self.matrix.shape[1]}"
        count, _, height, width = self.weights.shape
        words = f"{height}×{width}, {shape} to {count}"
        words += f", stride {self.strides[0]}" if self.strides != (1, 1) else ""
        words += f", dilation {self.dilations[0]}" if self.dilations != (1, 1) else ""
        return words + (f", {self.groups} groups" if self.groups > 1 else "")


def simplified(source, target):
    """Writes the model for one item, with everything that ONNX Runtime folds without fusing activations: constant
    operands, batch normalization."""
    model = onnx.load(source)
    given = dict(inputs(model))
    for value in [each for each in model.graph.input if each.name not in given]:
        model.graph.input.remove(value)
    for value in [*model.graph.input, *model.graph.output]:
        dims = value.type.tensor_type.shape.dim
        if dims and dims[0].dim_param:
            dims[0].dim_value = 1
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    model = onnx.load(target)
    used = {node.domain for node in model.graph.node} | {""}
    for entry in [each for each in model.opset_import if each.domain not in used]:
        model.opset_import.remove(entry)
    onnx.save(model, target)
    return model


def inputs(model):
    """Name and shape of each input that is not a constant."""
    constants = {each.name for each in model.graph.initializer}
    return [(value.name, tuple(side.dim_value for side in value.type.tensor_type.shape.dim))
            for value in model.graph.input if value.name not in constants]


def layers(model):
    constants = {each.name: each for each in model.graph.initializer}
    found = []
    for node in model.graph.node:
        if node.op_type not in ("Conv", "Gemm", "MatMul") or node.input[1] not in constants:
            continue
        weights = numpy_helper.to_array(constants[node.input[1]])
        bias = numpy_helper.to_array(constants[node.input[2]]) if len(node.input) > 2 and node.input[2] else None
        about = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        common = (node.name or node.output[0], node.input[0], node.input[1], weights, bias)
        found.append(convolution(common, about) if node.op_type == "Conv" else product(common, about))
    return found


def product(common, about):
    if about.get("alpha", 1) != 1 or about.get("beta", 1) != 1 or about.get("transA", 0):
        raise ValueError(f"{common[0]} does more than a product and a bias")
    return Layer(*common, isConvolution=False, isTransposed=bool(about.get("transB", 0)))


def convolution(common, about):
    return Layer(*common, isConvolution=True, strides=tuple(about.get("strides", (1, 1))), groups=about.get("group", 1),
                 dilations=tuple(about.get("dilations", (1, 1))), pads=tuple(about.get("pads", (0, 0, 0, 0))),
                 autoPad=about.get("auto_pad", b"NOTSET").decode())


def padded(layer, x):
    """Returns the layer with the padding computed for this input."""
    if not layer.autoPad.startswith("SAME"):
        return layer
    whole = []
    for size, kernel, stride, dilation in zip(x.shape[2:], layer.weights.shape[2:], layer.strides, layer.dilations):
        whole.append(max(0, (-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size))
    less, more = [each // 2 for each in whole], [each - each // 2 for each in whole]
    return replace(layer, pads=tuple(less + more if layer.autoPad == "SAME_UPPER" else more + less))


def activations(model, wanted, feed):
    """The named values of one inference by ONNX Runtime."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    made = [name for name in wanted if name not in feed]
    del copy.graph.output[:]
    copy.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in made)
    session = onnxruntime.InferenceSession(copy.SerializeToString(), providers=["CPUExecutionProvider"])
    return feed | dict(zip(made, session.run(made, feed)))


class Assembly:
    """One-layer networks in one ONNX model, each with its own input and output.

    `ways` is the layout of each: None as in the file, "blocks" between convolutions that copy their input, "planes"
    before one, "rows" between transpositions.

    `ways` says where each lies: None as it is, "blocks" between convolutions that hand on what they get, "planes" before one,
    "rows" between transpositions.
    """

    def __init__(self, layers, arrays, ways):
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.feed = {}
        for index, (layer, x, way) in enumerate(zip(layers, arrays, ways)):
            self.add(f"layer{index}", layer, x, way)

    def add(self, name, layer, x, way):
        given = x.transpose(0, 2, 3, 1) if way == "rows" else x
        self.feed[f"{name}_x"] = np.ascontiguousarray(given)
        self.inputs.append(helper.make_tensor_value_info(f"{name}_x", TensorProto.FLOAT, given.shape))
        self.outputs.append(helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, None))
        y = self.layer(name, layer, self.entered(name, x, way), f"{name}_y" if way is None else f"{name}_inner")
        if way == "rows":
            self.nodes.append(helper.make_node("Transpose", [y], [f"{name}_y"], perm=[0, 2, 3, 1]))
        elif way in ("blocks", "planes"):
            self.handed_on(f"{name}_out", y, f"{name}_y", len(layer.weights))

    def entered(self, name, x, way):
        if way == "rows":
            self.nodes.append(helper.make_node("Transpose", [f"{name}_x"], [f"{name}_inside"], perm=[0, 3, 1, 2]))
        elif way == "blocks":
            self.handed_on(f"{name}_in", f"{name}_x", f"{name}_inside", x.shape[1])
        return f"{name}_inside" if way in ("rows", "blocks") else f"{name}_x"

    def handed_on(self, name, x, y, channels):
        taps = np.zeros((channels, 1, IDENTITY, IDENTITY), np.float32)
        taps[:, 0, IDENTITY // 2, IDENTITY // 2] = 1
        inputs = [x, self.constant(f"{name}_taps", taps)]
        self.nodes.append(helper.make_node("Conv", inputs, [y], group=channels, pads=[IDENTITY // 2] * 4))

    def layer(self, name, layer, x, y):
        inputs = [x, self.constant(weight_name(name), layer.weights)]
        inputs += [] if layer.bias is None else [self.constant(f"{name}_bias", layer.bias)]
        about = {}
        if layer.isConvolution:
            about = {"strides": layer.strides, "dilations": layer.dilations, "pads": layer.pads, "group": layer.groups}
        elif layer.bias is not None or layer.isTransposed:
            about = {"transB": int(layer.isTransposed)}
        operator = "Conv" if layer.isConvolution else "Gemm" if about else "MatMul"
        self.nodes.append(helper.make_node(operator, inputs, [y], name=name, **about))
        return y

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def save(self, path):
        graph = helper.make_graph(self.nodes, pathlib.Path(path).stem, self.inputs, self.outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def weight_name(name):
    return f"{name}_weights"
