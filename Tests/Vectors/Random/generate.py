"""Writes models of random numbers: in ONNX, an ML Program and a neural network, with and without seeds. There are no expected values: tests look
at moments and distributions.

    .venv/bin/pip install onnx==1.23.2 numpy==2.2.6 coremltools==9.0
    .venv/bin/python Tests/Vectors/Random/generate.py
"""

import pathlib

import coremltools as ct
import numpy as np
import onnx
from coremltools.converters.mil import Builder as mb
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).parent
COUNT = 20_000
PROBABILITIES = np.float32([0.25, 0.75])
LOGITS = np.log(np.float32([[1, 2, 3, 4], [5, 0, 1, 4]]) + np.float32(1e-30))


def onnx_model():
    count = [COUNT]
    nodes = [
        helper.make_node("RandomNormal", [], ["normal"], shape=count, mean=-3.0, scale=2.0, seed=5.0),
        helper.make_node("RandomUniform", [], ["uniform"], shape=count, low=-1.0, high=4.0, seed=5.0),
        helper.make_node("RandomUniform", [], ["same"], shape=count, low=-1.0, high=4.0, seed=5.0),
        helper.make_node("RandomUniform", [], ["unseeded"], shape=count),
        helper.make_node("RandomUniform", [], ["another"], shape=count),
        helper.make_node("RandomNormalLike", ["x"], ["normal_like"], dtype=TensorProto.DOUBLE),
        helper.make_node("RandomUniformLike", ["x"], ["uniform_like"], dtype=TensorProto.FLOAT16),
        helper.make_node("Expand", ["probabilities", "columns"], ["spread"]),
        helper.make_node("Bernoulli", ["spread"], ["bernoulli"], dtype=TensorProto.INT32, seed=1.0),
        helper.make_node("Multinomial", ["logits"], ["multinomial"], sample_size=COUNT, dtype=TensorProto.INT64, seed=2.0),
    ]
    types = {"normal_like": TensorProto.DOUBLE, "uniform_like": TensorProto.FLOAT16, "bernoulli": TensorProto.INT32,
             "multinomial": TensorProto.INT64}
    shapes = {"bernoulli": [2, COUNT], "multinomial": [2, COUNT]}
    names = [node.output[0] for node in nodes if node.op_type != "Expand"]
    graph = helper.make_graph(
        nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, count)],
        [helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), shapes.get(name, count))
         for name in names],
        [onnx.numpy_helper.from_array(PROBABILITIES.reshape(2, 1), "probabilities"),
         onnx.numpy_helper.from_array(np.int64([2, COUNT]), "columns"),
         onnx.numpy_helper.from_array(LOGITS, "logits")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, HERE / "random.onnx")


def program():
    @mb.program(input_specs=[mb.TensorSpec((2, 4))], opset_version=ct.target.iOS16)
    def random(x):
        return (
            mb.random_normal(shape=[COUNT], mean=-3.0, stddev=2.0, seed=5, name="normal"),
            mb.random_uniform(shape=[COUNT], low=-1.0, high=4.0, seed=5, name="uniform"),
            mb.random_uniform(shape=[COUNT], low=-1.0, high=4.0, seed=5, name="same"),
            mb.random_uniform(shape=[COUNT], name="unseeded"),
            mb.random_uniform(shape=[COUNT], name="another"),
            mb.random_bernoulli(shape=[COUNT], prob=0.25, name="bernoulli"),
            mb.random_categorical(x=x, size=COUNT, mode="probs", seed=2, name="categorical"),
        )

    ct.convert(random, convert_to="mlprogram", compute_precision=ct.precision.FLOAT32,
               minimum_deployment_target=ct.target.iOS16, skip_model_load=True).save(str(HERE / "random.mlpackage"))


def network():
    inputs = [("x", ct.models.datatypes.Array(2, 4)), ("shape", ct.models.datatypes.Array(1))]
    names = ["normal", "uniform", "same", "unseeded", "another", "bernoulli", "categorical", "like", "cooled", "warmed"]
    builder = ct.models.neural_network.NeuralNetworkBuilder(
        inputs, [(name, None) for name in names], disable_rank5_shape_mapping=True)
    builder.add_random_normal_static("normal", "normal", [COUNT], mean=-3.0, stddev=2.0, seed=5)
    builder.add_random_uniform_static("uniform", "uniform", [COUNT], minval=-1.0, maxval=4.0, seed=5)
    builder.add_random_uniform_static("same", "same", [COUNT], minval=-1.0, maxval=4.0, seed=5)
    builder.add_random_uniform_dynamic("unseeded", ["shape"], "unseeded", minval=0.0, maxval=1.0)
    builder.add_random_uniform_static("another", "another", [COUNT], minval=0.0, maxval=1.0)
    builder.add_random_bernoulli_static("bernoulli", "bernoulli", [COUNT], prob=0.25)
    builder.add_categorical_distribution("categorical", "x", "categorical", num_samples=COUNT, is_logits=False, seed=2)
    builder.add_random_normal_like("like", "x", "like", mean=7.0, stddev=0.0)
    # Shares with the power of 1 / temperature, whether they come as such or as their logarithms.
    builder.add_categorical_distribution(
        "cooled", "x", "cooled", num_samples=COUNT, is_logits=False, temperature=0.5, eps=1e-10, seed=3)
    builder.add_unary("logits", "x", "logits", "log", epsilon=1e-10)
    builder.add_categorical_distribution(
        "warmed", "logits", "warmed", num_samples=COUNT, is_logits=True, temperature=0.5, seed=3)
    ct.models.utils.save_spec(builder.spec, str(HERE / "random.mlmodel"))


onnx_model()
program()
network()
