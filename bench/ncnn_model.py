"""Writes an ONNX model as ncnn's .param and .bin, without a converter.

Covers the operators of the convolutional classifiers compared here: Conv, Clip(0, 6), Relu, Sigmoid, Mul, Add,
MaxPool, GlobalAveragePool, Flatten, Gemm, Softmax. Weights stay float32 (tag 0 followed by the raw values), so that
ncnn's own options alone decide the precision of storage and arithmetic.

Usage: ncnn_model.py MODEL.onnx PREFIX        writes PREFIX.param and PREFIX.bin
"""

import sys

import numpy as np
import onnx
from onnx import numpy_helper

PARAM_MAGIC = 7767517


class UnsupportedModel(Exception):
    """The model uses an operator, or a form of one, that this writer does not translate."""


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
        self.nodes = [n for n in graph.node if n.op_type != "Constant"]
        self.layers = []
        self.blobs = set()
        self.payload = bytearray()
        self.pending = {}
        self.renamed = {}
        self.fused = set()

    def consumers(self, name):
        return [n for n in self.nodes for i in n.input if i == name]

    def take(self, name):
        """The blob name that the next consumer of ONNX value `name` reads."""
        name = self.renamed.get(name, name)
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

    def translate(self, node):
        kind = node.op_type
        if id(node) in self.fused:
            return
        if kind == "Conv":
            self.convolution(node)
        elif kind == "Relu":
            self.emit("ReLU", node, node.input)
        elif kind == "Clip":
            low, high = (float(self.constants[name]) for name in node.input[1:3])
            self.emit("Clip", node, node.input[:1], f"0={low} 1={high}")
        elif kind == "Sigmoid":
            self.emit("Sigmoid", node, node.input)
        elif kind in ("Add", "Mul"):
            self.emit("BinaryOp", node, node.input, "0=0" if kind == "Add" else "0=2")
        elif kind == "MaxPool":
            self.pooling(node)
        elif kind == "GlobalAveragePool":
            self.emit("Pooling", node, node.input, "0=1 4=1")
        elif kind == "Flatten":
            self.emit("Flatten", node, node.input)
        elif kind == "Gemm":
            self.gemm(node)
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


def write(onnx_path, prefix):
    """Writes PREFIX.param and PREFIX.bin; raises UnsupportedModel naming the first node without a translation."""
    param, payload = Writer(onnx.load(onnx_path).graph).run()
    with open(f"{prefix}.param", "w") as file:
        file.write(param)
    with open(f"{prefix}.bin", "wb") as file:
        file.write(payload)


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2])
