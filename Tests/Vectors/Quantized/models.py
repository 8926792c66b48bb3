"""The float models that `generate.py` quantizes, and what calibrates them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader


class Calibration(CalibrationDataReader):
    """A few random inputs like the given ones."""

    def __init__(self, inputs, generator):
        self.rounds = iter([inputs] + [{key: (array * generator.uniform(0.5, 1.1)).astype("float32")
                                        for key, array in inputs.items()} for _ in range(3)])

    def get_next(self):
        return next(self.rounds, None)


def model(name, nodes, shape, output, constants):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, key) for key, array in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9,
                             producer_name="Kelvin vectors")


def network(g):
    """Convolutions of three kinds, a residual, pooling, branches that join, and a classifier."""
    def weights(*shape):
        return (g.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype("float32")

    constants = {
        "w1": weights(8, 3, 3, 3), "b1": weights(8, 4)[:, 0].copy(), "w2": weights(8, 1, 3, 3),
        "b2": weights(8, 4)[:, 0].copy(), "w3": weights(8, 8, 1, 1), "b3": weights(8, 4)[:, 0].copy(),
        "w4": weights(8, 8, 1, 1), "b4": weights(8, 4)[:, 0].copy(), "wf": weights(10, 16), "bf": weights(10, 4)[:, 0].copy(),
        "low": np.array(0, "float32"), "high": np.array(6, "float32"),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], name="conv1", strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Clip", ["c1", "low", "high"], ["r1"], name="relu1"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], name="conv2", group=8, pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"], name="relu2"),
        helper.make_node("Conv", ["r2", "w3", "b3"], ["c3"], name="conv3"),
        helper.make_node("Add", ["c3", "r1"], ["sum"], name="add"),
        helper.make_node("MaxPool", ["sum"], ["pooled"], name="pool", kernel_shape=[3, 3], strides=[2, 2],
                         pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["pooled", "w4", "b4"], ["c4"], name="conv4"),
        helper.make_node("Concat", ["c4", "pooled"], ["joined"], name="concat", axis=1),
        helper.make_node("GlobalAveragePool", ["joined"], ["mean"], name="mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], name="flatten"),
        helper.make_node("Gemm", ["flat", "wf", "bf"], ["y"], name="classifier", transB=1),
    ]
    x = g.standard_normal((1, 3, 23, 21)).astype("float32")
    return (model("network", nodes, x.shape, "y", constants), {"x": x},
            ["binary_integer", "convolution_integer", "matmul_integer"])


def perceptron(g):
    """Matrix products with and without bias on rows."""
    constants = {"w1": (g.standard_normal((24, 40)) / 5).astype("float32"),
                 "w2": (g.standard_normal((40, 12)) / 6).astype("float32"),
                 "b2": g.standard_normal(12).astype("float32")}
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["h"], name="first"),
        helper.make_node("Relu", ["h"], ["r"], name="relu"),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["y"], name="second"),
    ]
    x = g.standard_normal((7, 24)).astype("float32")
    return model("perceptron", nodes, x.shape, "y", constants), {"x": x}, ["matmul_integer"]


MODELS = {"network": network, "perceptron": perceptron}
