"""Writes an ONNX model, for one item, as ncnn's .param and .bin, without a converter.

Covers the operators of the classifiers compared here: Conv, Clip(0, 6), Relu, Sigmoid, Mul, Add, Concat, MaxPool,
GlobalAveragePool, Flatten, Gemm, Softmax, and of a vision transformer LayerNormalization, Reshape, Transpose, Gather of one
row, and what transformer_patterns.py finds: ncnn has a layer for each. Its values have no batch. Weights stay float32 (tag 0
followed by the raw values), so that ncnn's own options alone decide the precision of storage and arithmetic.

Usage: ncnn_model.py MODEL.onnx PREFIX        writes PREFIX.param and PREFIX.bin
"""

import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

import transformer_patterns

PARAM_MAGIC = 7767517


class UnsupportedModel(Exception):
    """The model uses an operator, or a variant of one, that this writer does not translate."""


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


class Writer:
    """Collects ncnn layers in graph order; a blob with several consumers goes through a Split layer."""

    def __init__(self, graph):
        self.graph = graph
        self.constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant":
                self.constants[node.output[0]] = numpy_helper.to_array(attributes(node)["value"])
        nodes = [n for n in graph.node if n.op_type != "Constant"]
        self.nodes = transformer_patterns.condensed(nodes, self.constants)
        self.layers = []
        self.blobs = set()
        self.payload = bytearray()
        self.pending = {}
        self.fused = set()

    def consumers(self, name):
        return [n for n in self.nodes for i in n.input if i == name]

    def take(self, name):
        """The blob name that the next consumer of ONNX value `name` reads."""
        if name in self.constants:
            return self.memory(name)
        if self.pending.get(name):
            return self.pending[name].pop(0)
        return name

    def layer(self, kind, name, inputs, outputs, parameters=""):
        line = f"{kind:<24} {name:<24} {len(inputs)} {len(outputs)} {' '.join(inputs)} {' '.join(outputs)}"
        self.layers.append((line + " " + parameters).rstrip())
        self.blobs.update(outputs)

    def emit(self, kind, node, inputs, parameters="", output=None):
        output = output or node.output[0]
        self.layer(kind, output, [self.take(i) for i in inputs], [output], parameters)
        self.split(output)

    def split(self, output):
        copies = len(self.consumers(output))
        if copies > 1:
            names = [f"{output}_split{i}" for i in range(copies)]
            self.layer("Split", f"{output}_split", [output], names)
            self.pending[output] = names

    def weights(self, values, tagged):
        if tagged:
            self.payload += np.uint32(0).tobytes()
        self.payload += np.ascontiguousarray(values, dtype="<f4").tobytes()

    def memory(self, name):
        """A blob of a constant of one item."""
        values = self.constants[name]
        if values.ndim < 2 or values.shape[0] != 1:
            raise UnsupportedModel(f"constant {name} of shape {values.shape}: only those of one item become blobs")
        self.layer("MemoryData", name, [], [name], sides(values.shape[1:]))
        self.weights(values, tagged=False)
        return name

    def activation(self, output):
        """ncnn's activation parameters of the node that alone consumes `output`, fused into the layer before it."""
        consumers = self.consumers(output)
        if len(consumers) != 1:
            return "", output
        node = consumers[0]
        if node.op_type == "Relu":
            parameters = " 9=1"
        elif node.op_type == "Clip":
            low, high = (float(self.constants[name]) for name in node.input[1:3])
            parameters = f" 9=3 -23310=2,{low},{high}"
        else:
            return "", output
        self.fused.add(id(node))
        return parameters, node.output[0]

    @staticmethod
    def pads(attrs):
        """ONNX's [top, left, bottom, right]; ncnn's own codes where the padding depends on the input size."""
        automatic = attrs.get("auto_pad", b"NOTSET")
        if automatic == b"SAME_UPPER":
            return [-233] * 4
        if automatic == b"SAME_LOWER":
            return [-234] * 4
        return attrs.get("pads", [0, 0, 0, 0])

    def convolution(self, node):
        attrs = attributes(node)
        weight = self.constants[node.input[1]]
        group = attrs.get("group", 1)
        kernel = weight.shape[2:]
        strides, dilations = attrs.get("strides", [1, 1]), attrs.get("dilations", [1, 1])
        pads = self.pads(attrs)
        biased = len(node.input) > 2
        activation, output = self.activation(node.output[0])
        parameters = (
            f"0={weight.shape[0]} 1={kernel[1]} 11={kernel[0]} 2={dilations[1]} 12={dilations[0]} "
            f"3={strides[1]} 13={strides[0]} 4={pads[1]} 14={pads[0]} 15={pads[3]} 16={pads[2]} "
            f"5={int(biased)} 6={weight.size}" + (f" 7={group}" if group > 1 else "") + activation
        )
        self.weights(weight, tagged=True)
        if biased:
            self.weights(self.constants[node.input[2]], tagged=False)
        self.emit("ConvolutionDepthWise" if group > 1 else "Convolution", node, node.input[:1], parameters, output)

    def pooling(self, node):
        attrs = attributes(node)
        kernel, strides = attrs["kernel_shape"], attrs.get("strides", [1, 1])
        pads = self.pads(attrs)
        self.emit("Pooling", node, node.input[:1],
                  f"0=0 1={kernel[1]} 11={kernel[0]} 2={strides[1]} 12={strides[0]} "
                  f"3={pads[1]} 13={pads[0]} 14={pads[3]} 15={pads[2]} 5=1")

    def gemm(self, node):
        attrs = attributes(node)
        weight = self.constants[node.input[1]]
        if attrs.get("alpha", 1.0) != 1.0 or attrs.get("beta", 1.0) != 1.0 or attrs.get("transA", 0):
            raise UnsupportedModel(f"Gemm {node.name}: only alpha = beta = 1 without transA has an InnerProduct form")
        if not attrs.get("transB", 0):
            weight = weight.T
        self.weights(weight, tagged=True)
        self.weights(self.constants[node.input[2]], tagged=False)
        self.emit("InnerProduct", node, node.input[:1], f"0={weight.shape[0]} 1=1 2={weight.size}")

    def linear(self, node):
        """Writes the layer as Gemm, which is faster on rows than InnerProduct."""
        weight = self.constants[node.input[1]].T
        self.weights(weight, tagged=True)
        self.weights(self.constants[node.input[2]], tagged=True)
        self.emit("Gemm", node, node.input[:1],
                  f"2=0 3=1 4=0 5=1 6=1 7=0 8={weight.shape[0]} 9={weight.shape[1]} 10=4")

    def attention(self, node):
        packed, bias, last, last_bias = (self.constants[name] for name in node.input[1:])
        width = packed.shape[0]
        for part in range(3):
            columns = slice(part * width, (part + 1) * width)
            self.weights(packed[:, columns].T, tagged=True)
            self.weights(bias[columns], tagged=False)
        self.weights(last, tagged=True)
        self.weights(last_bias, tagged=False)
        self.emit("MultiHeadAttention", node, node.input[:1], f"0={width} 1={attributes(node)['heads']} 2={last.size}")

    def layer_normalization(self, node):
        attrs = attributes(node)
        scale, bias = (self.constants[name] for name in node.input[1:])
        if attrs.get("axis", -1) != -1:
            raise UnsupportedModel(f"LayerNormalization {node.name}: only over the last axis")
        self.weights(scale, tagged=False)
        self.weights(bias, tagged=False)
        self.emit("LayerNorm", node, node.input[:1], f"0={scale.size} 1={attrs.get('epsilon', 1e-5):.9g} 2=1")

    def reshape(self, node):
        shape = self.constants[node.input[1]]
        if len(shape) < 2 or shape[0] not in (0, 1) or min(shape[1:]) < 1:
            raise UnsupportedModel(f"Reshape {node.name} to {list(shape)}: only of one item, to sizes that are written out")
        self.emit("Reshape", node, node.input[:1], sides(shape[1:]))

    def transpose(self, node):
        order = attributes(node)["perm"]
        if order != [0, 2, 1]:
            raise UnsupportedModel(f"Transpose {node.name} to {order}: only [0, 2, 1]")
        self.emit("Permute", node, node.input, "0=1")

    def gather(self, node):
        index = self.constants.get(node.input[1])
        if index is None or index.ndim or attributes(node).get("axis", 0) != 1:
            raise UnsupportedModel(f"Gather {node.name}: only of one row of an item")
        row = f"{node.output[0]}_row"
        self.layer("Crop", row, [self.take(node.input[0])], [row], f"-23309=1,{index} -23310=1,{index + 1} -23311=1,0")
        self.layer("Flatten", node.output[0], [row], [node.output[0]])
        self.split(node.output[0])

    def concatenation(self, node):
        axis = attributes(node)["axis"]
        if axis < 1:
            raise UnsupportedModel(f"Concat {node.name} along {axis}: only along an axis of an item, counted from the first")
        self.emit("Concat", node, node.input, f"0={axis - 1}")

    def translate(self, node):
        kind = node.op_type
        if id(node) in self.fused:
            return
        if kind in WRITTEN:
            WRITTEN[kind](self, node)
        elif kind == "Gelu":
            self.emit("GELU", node, node.input)
        elif kind == "Relu":
            self.emit("ReLU", node, node.input)
        elif kind == "Clip":
            low, high = (float(self.constants[name]) for name in node.input[1:3])
            self.emit("Clip", node, node.input[:1], f"0={low} 1={high}")
        elif kind == "Sigmoid":
            self.emit("Sigmoid", node, node.input)
        elif kind in ("Add", "Mul"):
            self.emit("BinaryOp", node, node.input, "0=0" if kind == "Add" else "0=2")
        elif kind == "GlobalAveragePool":
            self.emit("Pooling", node, node.input, "0=1 4=1")
        elif kind == "Flatten":
            self.emit("Flatten", node, node.input)
        elif kind == "Softmax":
            self.emit("Softmax", node, node.input, "0=0 1=1")
        else:
            raise UnsupportedModel(f"operator {kind} ({node.name or node.output[0]}) has no ncnn layer here")

    def run(self):
        source = [i for i in self.graph.input if i.name not in self.constants]
        if len(source) != 1:
            raise UnsupportedModel(f"expected one graph input, got {[i.name for i in source]}")
        self.layer("Input", source[0].name, [], [source[0].name])
        self.split(source[0].name)
        for node in self.nodes:
            self.translate(node)
        header = f"{PARAM_MAGIC}\n{len(self.layers)} {len(self.blobs)}\n"
        return header + "\n".join(self.layers) + "\n", bytes(self.payload)


WRITTEN = {"Conv": Writer.convolution, "MaxPool": Writer.pooling, "Gemm": Writer.gemm, "Concat": Writer.concatenation,
           "LayerNormalization": Writer.layer_normalization, "Reshape": Writer.reshape, "Transpose": Writer.transpose,
           "Gather": Writer.gather, "Linear": Writer.linear, "Attention": Writer.attention}


def sides(shape):
    """ncnn's width, height and channels."""
    return " ".join(f"{key}={side}" for key, side in zip((0, 1, 2), reversed(shape)))


def folded(path):
    """Returns the model for one item, with constants folded by ONNX Runtime, including sizes."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.add_free_dimension_override_by_name("N", 1)
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = os.path.join(folder, "folded.onnx")
        # These optimizers rearrange the nodes of the patterns.
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"],
                                     disabled_optimizers=["TransposeOptimizer", "MatMulAddFusion"])
        return onnx.load(options.optimized_model_filepath)


def write(onnx_path, prefix):
    """Writes PREFIX.param and PREFIX.bin; raises UnsupportedModel naming the first node without a translation."""
    param, payload = Writer(folded(onnx_path).graph).run()
    with open(f"{prefix}.param", "w") as file:
        file.write(param)
    with open(f"{prefix}.bin", "wb") as file:
        file.write(payload)


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2])
