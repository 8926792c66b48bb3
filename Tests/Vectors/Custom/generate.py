#!/usr/bin/env python3
"""Writes models with custom layers and custom models, whose code is in CustomCodeTests.swift. Needs coremltools and numpy.

    python3 Tests/Vectors/Custom/generate.py
"""
import pathlib

import numpy
from coremltools.models import MLModel, datatypes, neural_network
from coremltools.proto import FeatureTypes_pb2, Model_pb2, NeuralNetwork_pb2

HERE = pathlib.Path(__file__).resolve().parent


def custom(name="Scaled", scale=2.0, weights=()):
    """The parameters of a custom layer: y = scale * x + weights[0]."""
    params = NeuralNetwork_pb2.CustomLayerParams()
    params.className, params.description = name, "Scales and shifts."
    params.parameters["scale"].doubleValue = scale
    params.parameters["kind"].stringValue = "affine"
    params.parameters["count"].intValue = -3
    params.parameters["exact"].boolValue = True
    for values in weights:
        params.weights.add().floatValue.extend(values)
    return params


def save(builder, name):
    MLModel(builder.spec, skip_model_load=True).save(str(HERE / f"{name}.mlmodel"))


def chain():
    """Two products around a custom layer: y = relu(3 * (2 * (x + 1) + w))."""
    builder = neural_network.NeuralNetworkBuilder(
        [("x", datatypes.Array(2, 3))], [("y", datatypes.Array(2, 3))], disable_rank5_shape_mapping=True)
    builder.add_elementwise("more", ["x"], "more", "ADD", alpha=1)
    builder.add_custom("scaled", ["more"], ["scaled"], custom(weights=[[0.5, -20, 4]]))
    builder.add_elementwise("triple", ["scaled"], "triple", "MULTIPLY", alpha=3)
    builder.add_activation("positive", "RELU", "triple", "y")
    save(builder, "chain")


def planes():
    """A network of the first version, whose layers see five axes: y = 2 * x, and the custom layer is first and last."""
    builder = neural_network.NeuralNetworkBuilder([("x", datatypes.Array(3, 2, 2))], [("y", datatypes.Array(3, 2, 2))])
    builder.add_custom("scaled", ["x"], ["y"], custom())
    save(builder, "planes")


def image():
    """A custom layer on a preprocessed image: y = 2 * (x / 255 - 0.5)."""
    builder = neural_network.NeuralNetworkBuilder([("x", datatypes.Array(1, 2, 2))], [("y", datatypes.Array(1, 2, 2))])
    builder.add_custom("scaled", ["x"], ["y"], custom())
    builder.set_pre_processing_parameters(
        image_input_names=["x"], image_scale=1 / 255, gray_bias=-0.5)
    save(builder, "image")


def loop():
    """A custom layer in a loop: three times y = 2 * y."""
    builder = neural_network.NeuralNetworkBuilder(
        [("x", datatypes.Array(2))], [("y", datatypes.Array(2))], disable_rank5_shape_mapping=True)
    builder.add_copy("start", "x", "y")
    layer = builder.add_loop("times", max_iterations=3)
    body = neural_network.NeuralNetworkBuilder(nn_spec=layer.loop.bodyNetwork, disable_rank5_shape_mapping=True)
    body.add_custom("scaled", ["y"], ["twice"], custom())
    body.add_copy("keep", "twice", "y")
    save(builder, "loop")


def several():
    """A custom layer with two inputs and two outputs, the second input being a constant."""
    builder = neural_network.NeuralNetworkBuilder(
        [("x", datatypes.Array(2, 2))], [("sum", datatypes.Array(2, 2)), ("rows", datatypes.Array(2))],
        disable_rank5_shape_mapping=True)
    builder.add_load_constant_nd("ten", "ten", numpy.array([[10.0, 20.0], [30.0, 40.0]]), (2, 2))
    builder.add_custom("both", ["x", "ten"], ["sum", "rows"], custom("SumAndRows"))
    save(builder, "several")


def feature(description, name, kind, **sizes):
    made = description.add()
    made.name = name
    if kind == "image":
        made.type.imageType.width, made.type.imageType.height = sizes["width"], sizes["height"]
        made.type.imageType.colorSpace = FeatureTypes_pb2.ImageFeatureType.ColorSpace.Value("RGB")
    elif kind == "array":
        made.type.multiArrayType.shape.extend(sizes["shape"])
        made.type.multiArrayType.dataType = FeatureTypes_pb2.ArrayFeatureType.ArrayDataType.Value("FLOAT32")
    elif kind == "dictionary":
        made.type.dictionaryType.stringKeyType.MergeFromString(b"")
    else:
        getattr(made.type, f"{kind}Type").MergeFromString(b"")


def model():
    """A custom model with an input and an output of many types."""
    spec = Model_pb2.Model()
    spec.specificationVersion = 3
    spec.customModel.className, spec.customModel.description = "Caption", "Says what it was given."
    spec.customModel.parameters["greeting"].stringValue = "hello"
    spec.customModel.parameters["table"].bytesValue = bytes([1, 2, 255])
    feature(spec.description.input, "photo", "image", width=2, height=2)
    feature(spec.description.input, "name", "string")
    feature(spec.description.input, "numbers", "array", shape=[3])
    feature(spec.description.output, "caption", "string")
    feature(spec.description.output, "total", "double")
    feature(spec.description.output, "shares", "dictionary")
    feature(spec.description.output, "negative", "image", width=2, height=2)
    (HERE / "model.mlmodel").write_bytes(spec.SerializeToString())


def main():
    for make in (chain, planes, image, loop, several, model):
        make()


if __name__ == "__main__":
    main()
