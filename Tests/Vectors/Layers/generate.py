"""Writes the network vectors of this directory: `<case>.mlmodel`, a network with the layer under test made by coremltools'
NeuralNetworkBuilder, and `<case>.kv`, its inputs and expected outputs in the format that ../README.md describes.

    python3 -m venv .venv && .venv/bin/pip install coremltools==9.0 numpy torch
    .venv/bin/python generate.py
"""

import pathlib
import sys
import zlib

import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

import attributes  # noqa: F401 (adds to the cases)
import classical
import layers
import movement  # noqa: F401 (adds to the cases)
import quantized  # noqa: F401 (adds to the cases)
import recurrent  # noqa: F401 (adds to the cases)

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import kv  # noqa: E402  (of the directory above)


def network(inputs, outputs, build, legacy):
    features = [(name, datatypes.Array(*array.shape)) for name, array in inputs.items()]
    made = [(name, datatypes.Array(*array.shape) if legacy else None) for name, array in outputs]
    builder = NeuralNetworkBuilder(features, made, disable_rank5_shape_mapping=not legacy)
    build(builder)
    spec = builder.spec
    if legacy:
        spec.neuralNetwork.arrayInputShapeMapping = 0
    return spec.SerializeToString()


def encode(name, inputs, outputs):
    return kv.encode({"case": name, "tolerance": {"absolute": 2e-6, "relative": 1e-5}}, inputs.items(), outputs)


def main():
    for path in list(HERE.glob("*.kv")) + list(HERE.glob("*.mlmodel")):
        path.unlink()
    total = 0
    for name, inputs, expected, build, legacy, count in layers.CASES:
        random = np.random.default_rng(zlib.crc32(name.encode()))
        inputs = {key: value if isinstance(value, np.ndarray) else random.uniform(-1, 1, value).astype(np.float32)
                  for key, value in inputs.items()}
        results = expected(*[array.astype(np.float64) for array in inputs.values()])
        names = ["y"] if count == 1 else [f"y{i}" for i in range(count)]
        outputs = [(key, np.asarray(array).astype(np.float32)) for key, array in zip(names, results, strict=True)]
        model, vector = network(inputs, outputs, build, legacy), encode(name, inputs, outputs)
        (HERE / f"{name}.mlmodel").write_bytes(model)
        (HERE / f"{name}.kv").write_bytes(vector)
        total += len(model) + len(vector)
    for name, inputs, expected, spec in classical.CASES:
        names = ["y"] if len(expected) == 1 else [f"y{i}" for i in range(len(expected))]
        outputs = [(key, array.astype(np.float32)) for key, array in zip(names, expected, strict=True)]
        model, vector = spec.SerializeToString(), encode(name, inputs, outputs)
        (HERE / f"{name}.mlmodel").write_bytes(model)
        (HERE / f"{name}.kv").write_bytes(vector)
        total += len(model) + len(vector)
    print(f"{len(layers.CASES) + len(classical.CASES)} cases, {total} bytes")


if __name__ == "__main__":
    main()
