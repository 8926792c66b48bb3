"""Builds the models that the comparison runs, with seeded random weights: speed does not depend on the values, and
agreement between runtimes is checked on the same file.

The batch dimension is "N". Networks for images have the input "image", and the outputs "logits" and "probs" where nothing else is
said of them.

Usage: models.py DIRECTORY [NAME ...]
"""

import pathlib
import sys

import onnx

import convnext_model
import convolutional_models as convolutional
import decoder_models
import detr_model
import quantized_models
import transformer_models

BUILDERS = {builder.__name__: builder for builder in (
    convolutional.resnet50, convolutional.mobilenet_v2, convolutional.efficientnet_b0, convolutional.squeezenet,
    convolutional.mobilenet_v3, convolutional.densenet121, convolutional.unet, convolutional.regnet_y,
    convolutional.shufflenet_v2, convnext_model.convnext_tiny, transformer_models.vit_b16, transformer_models.minilm,
    transformer_models.encoder, transformer_models.matmuls, transformer_models.perceptron_float16,
    decoder_models.gpt2_past, decoder_models.gpt2_shared, detr_model.detr_resnet50, quantized_models.resnet50_int8,
    quantized_models.minilm_int8, quantized_models.gpt2_int4)}


def saved(model, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    onnx.save(model, partial)
    partial.rename(path)


def build(directory, name):
    """The path of the named model in `directory`, built on first use."""
    path = pathlib.Path(directory) / f"{name}.onnx"
    if not path.exists():
        saved(BUILDERS[name](), path)
    return path


def resized(directory, path, size):
    """Returns a copy of the model at `path` whose images are declared to be size x size, made on first use."""
    copy = pathlib.Path(directory) / f"{pathlib.Path(path).stem}_{size}.onnx"
    if not copy.exists():
        model = onnx.load(path)
        shape = next(value for value in model.graph.input if value.name == "image").type.tensor_type.shape
        for side in shape.dim[2:]:
            side.dim_value = size
        del model.graph.value_info[:]
        saved(model, copy)
    return copy


if __name__ == "__main__":
    for wanted in sys.argv[2:] or BUILDERS:
        print(build(sys.argv[1], wanted))
