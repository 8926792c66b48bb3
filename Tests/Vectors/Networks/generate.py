"""Writes small transformers as PyTorch's exporters and coremltools make them, with PyTorch's own outputs.

`<network>_<export>.onnx` and `.mlmodel` are the exports of ../../../bench/torch_models.py, without notes on where each
node came from, the constants of ML Programs written into the program. `<network>_<export>.<n>.kv` hold inputs and
outputs in the format that ../README.md describes; networks with dynamic sizes have several.

    .venv/bin/pip install torch torchvision onnx onnxscript coremltools==9.0 "numpy<2.4"
    .venv/bin/python generate.py
"""

import pathlib
import sys
import tempfile
import types

import numpy as np
import onnx
import torch
from coremltools.converters.mil.backend.mil import load
from coremltools.proto import Model_pb2

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parents[2] / "bench"))
load.should_use_weight_file = lambda *_, **__: False

import torch_models  # noqa: E402
from generate import encode  # noqa: E402  (the generator of the directory above)

TOLERANCE = {"torchscript": (1e-5, 1e-4), "dynamo": (1e-5, 1e-4), "f32": (1e-5, 1e-4), "f16": (2e-2, 1e-2)}


def stripped(path):
    """The model without documentation, metadata and the types of inner values."""
    model = onnx.load(path)
    for message in (model, model.graph, *model.graph.node, *model.graph.input, *model.graph.output,
                    *model.graph.initializer):
        message.ClearField("doc_string")
        message.ClearField("metadata_props")
    del model.graph.value_info[:]
    onnx.checker.check_model(model)
    return model.SerializeToString()


def sizes(name, export):
    """Batch and sequence of each set of inputs; None leaves the sample as it is."""
    if export in ("f32", "f16"):
        return [None]
    return [None, (3, None)] if name.endswith("vit") else [None, (1, 7), (3, 29)]


def inputs(name, size):
    sample = torch_models.sample(name)
    if size is None:
        return sample
    batch, length = size
    random = torch.Generator().manual_seed(batch)
    if length is None:
        return {"image": torch.randn(batch, *sample["image"].shape[1:], generator=random)}
    mask = torch.arange(length)[None, :] < torch.arange(length, length - batch, -1)[:, None]
    return {"ids": torch.randint(0, 61, (batch, length), generator=random), "mask": mask.long()}


def write(name, export, folder):
    path = torch_models.export(folder, name, export)
    stem, half = f"{name}_{export}", export == "f16"
    if path.suffix == ".onnx":
        (HERE / f"{stem}.onnx").write_bytes(stripped(path))
        output = torch_models.OUTPUTS[name]
    else:
        contents = (path / "Data/com.apple.CoreML/model.mlmodel").read_bytes()
        (HERE / f"{stem}.mlmodel").write_bytes(contents)
        spec = Model_pb2.Model.FromString(contents)
        output = spec.description.output[0].name
        half = spec.description.output[0].type.multiArrayType.dataType == 65552
    for index, size in enumerate(sizes(name, export)):
        values = inputs(name, size)
        with torch.no_grad():
            wide = [value.double() if value.is_floating_point() else value for value in values.values()]
            result = torch_models.build(name).double()(*wide).numpy()
        if path.suffix != ".onnx":
            values = {key: value.to(torch.int32) if value.dtype == torch.int64 else value
                      for key, value in values.items()}
        record = types.SimpleNamespace(operator=name, attributes={}, tolerance=TOLERANCE[export])
        kind = np.float16 if half else np.float32
        payload = encode(record, stem, [(key, value.numpy()) for key, value in values.items()],
                         [(output, result.astype(kind))], 0)
        (HERE / f"{stem}.{index + 1}.kv").write_bytes(payload)


def main():
    for old in [*HERE.glob("*.onnx"), *HERE.glob("*.mlmodel"), *HERE.glob("*.kv")]:
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tiny_vit", "tiny_encoder"):
            for export in torch_models.EXPORTS:
                write(name, export, folder)
    for path in sorted(HERE.glob("*.*")):
        print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
