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
import onnx.parser
import torch
from coremltools.converters.mil.backend.mil import load
from coremltools.proto import Model_pb2

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "ONNX"))
sys.path.insert(0, str(HERE.parents[2] / "bench"))
load.should_use_weight_file = lambda *_, **__: False

import torch_models  # noqa: E402
from generate import encode  # noqa: E402  (the generator of ../ONNX)

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
        spec = Model_pb2.Model.FromString(contents)
        (HERE / f"{stem}.mlmodel").write_bytes(spec.SerializeToString(deterministic=True))
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


FUNCTIONS = """
<ir_version: 9, opset_import: ["" : 17, "local" : 1], producer_name: "Kelvin vectors">
calls (float[N,5] x, float[5] w) => (float[N,5] y, float[N,5] z) {
   t, u = local.Both <alpha = 0.25> (x, w)
   y = local.Leak (t)
   z = Add (u, t)
}
<domain: "local", opset_import: ["" : 17, "local" : 1]>
Leak <alpha: float = 0.5> (x) => (y) { y = LeakyRelu <alpha: float = @alpha> (x) }
<domain: "local", opset_import: ["" : 17, "local" : 1]>
Both <alpha> (x, w) => (y, w2) {
   t = Mul (x, w)
   y = local.Leak <alpha: float = @alpha> (t)
   s = Add (w, w)
   w2 = local.Leak (s)
}
"""


def write_functions():
    """A model whose operators are functions of its own, one of which calls the other, with and without attributes."""
    model = onnx.parser.parse_model(FUNCTIONS)
    onnx.checker.check_model(model)
    random = np.random.default_rng(3)
    values = {"x": random.uniform(-2, 2, (3, 5)).astype(np.float32),
              "w": random.uniform(-2, 2, 5).astype(np.float32)}

    def leak(x, alpha):
        return np.where(x < 0, np.float32(alpha) * x, x)

    once = leak(values["x"] * values["w"], 0.25)
    results = [leak(once, 0.5), leak(2 * values["w"], 0.5) + once]
    (HERE / "functions.onnx").write_bytes(model.SerializeToString())
    record = types.SimpleNamespace(operator="functions", attributes={}, tolerance=(1e-6, 1e-5))
    (HERE / "functions.1.kv").write_bytes(
        encode(record, "functions", list(values.items()), list(zip(("y", "z"), results)), 17))


BRANCHES = """
<ir_version: 9, opset_import: ["" : 17], producer_name: "Kelvin vectors">
branches (float[N,5] x) => (float[N,5] y)
<int64 three = {3}, int64 zero = {0}> {
   shape = Shape (x)
   first = Gather (shape, zero)
   many = GreaterOrEqual (first, three)
   t = If (many) <
     then_branch = many_rows () => (a) <float two = {2}> { inner = Mul (x, two)  a = Relu (inner) },
     else_branch = few_rows () => (b) { inner = Neg (x)  b = Identity (inner) }>
   y = Add (t, x)
}
"""


def write_branches():
    """A condition on a size: both branches, each taken by one set of inputs."""
    model = onnx.parser.parse_model(BRANCHES)
    onnx.checker.check_model(model)
    (HERE / "branches.onnx").write_bytes(model.SerializeToString())
    for index, rows in enumerate((2, 3)):
        x = np.random.default_rng(rows).uniform(-2, 2, (rows, 5)).astype(np.float32)
        record = types.SimpleNamespace(operator="If", attributes={}, tolerance=(1e-6, 1e-5))
        y = (np.maximum(2 * x, 0) if rows > 2 else -x) + x
        (HERE / f"branches.{index + 1}.kv").write_bytes(encode(record, "branches", [("x", x)], [("y", y)], 17))


def main():
    for old in [*HERE.glob("*.onnx"), *HERE.glob("*.mlmodel"), *HERE.glob("*.kv")]:
        old.unlink()
    write_functions()
    write_branches()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tiny_vit", "tiny_encoder"):
            for export in torch_models.EXPORTS:
                write(name, export, folder)
    for path in sorted(HERE.glob("*.*")):
        print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
