"""Networks of several widths and chains of many nodes, built into the models' cache on first use."""

import numpy as np
import onnx
from onnx import TensorProto, helper

import convolutional_models as convolutional
import models
from catalog import CACHE
from network import Network, OPSET

SIDE = 64


def residual(multiplier, seed=18):
    """Eight residual blocks of two 3x3 convolutions, of 32 to 256 channels times the multiplier."""
    net = Network("residual", seed)
    channels = int(32 * multiplier)
    x = net.relu(net.convolution("image", 3, channels, 3, stride=2))
    for stage in range(4):
        width = int(32 * multiplier) << stage
        for index in range(2):
            step = 2 if stage and not index else 1
            branch = net.relu(net.convolution(x, channels, width, 3, stride=step))
            branch = net.convolution(branch, width, width, 3, gain=0.2)
            shortcut = x if channels == width else net.convolution(x, channels, width, 1, stride=step, gain=1.0)
            x, channels = net.relu(net.node("Add", [branch, shortcut])), width
    net.classifier(x, channels)
    return net.model()


def mobilenet_v2(multiplier):
    return convolutional.mobilenet_v2(multiplier=multiplier)


def chain(operator, count):
    """A chain of nodes, each of which reads the one before it."""
    values = ["x", *(f"y{index}" for index in range(count - 1)), "y"]
    nodes = [helper.make_node(operator, [before], [after], name=f"node{index}")
             for index, (before, after) in enumerate(zip(values, values[1:]))]
    inputs, outputs = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, SIDE])] for name in "xy")
    graph = helper.make_graph(nodes, "chain", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def mixed(count, seed=19):
    """A chain of ten kinds of nodes in turn: convolutions, sums, products, computed shapes, exchanges of axes,
    softmax."""
    random = np.random.default_rng(seed)
    nodes, constants = [], []

    def constant(name, array):
        constants.append(onnx.numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def node(operator, *inputs, **attributes):
        output = f"y{len(nodes)}"
        nodes.append(helper.make_node(operator, inputs, [output], name=f"node{len(nodes)}", **attributes))
        return output

    x = "x"
    while len(nodes) < count:
        weights = constant(f"w{len(nodes)}", 0.3 * random.standard_normal((8, 8, 1, 1)))
        rectified = node("Relu", node("Conv", x, weights))
        product = node("Mul", node("Add", rectified, x), constant(f"s{len(nodes)}", np.array([0.5])))
        exchanged = node("Transpose", node("Reshape", product, node("Shape", product)), perm=[0, 1, 3, 2])
        x = node("Softmax", node("Mul", exchanged, node("Sigmoid", exchanged)), axis=1)
    inputs, outputs = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 4, 4])] for name in ("x", x))
    graph = helper.make_graph(nodes, "mixed", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def kept(name, build):
    path = CACHE / f"{name}.onnx"
    if not path.exists():
        models.saved(build(), path)
    return path


def widened(builder, multiplier):
    return kept(f"{builder.__name__}_w{round(100 * multiplier)}", lambda: builder(multiplier))


def chained(operator, count):
    return kept(f"chain_{operator.lower()}_{count}", lambda: chain(operator, count))


def chain_input():
    """A folder with the input of every chain."""
    folder = CACHE / "inputs" / "chain"
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "x.npy", np.linspace(-1, 1, SIDE, dtype=np.float32).reshape(1, SIDE))
    return folder


def nodes(path):
    return len(onnx.load(path).graph.node)
