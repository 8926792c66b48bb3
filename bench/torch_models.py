"""Exports a vision transformer and a sentence encoder from PyTorch, with seeded random weights.

`vit` is torchvision's ViT-B/16 (Dosovitskiy et al., 2020): input "image" [N, 3, 224, 224], output "logits" [N, 1000].
`encoder` has the shape of MiniLM-L6 (Wang et al., 2020; a BERT of 6 layers, 384 wide, 12 heads, 30522 words): inputs
"ids" and "mask" [N, S] int64, output "states" [N, S, 384]. `tiny_vit` and `tiny_encoder` have the same structure with
two narrow layers. Each is exported by

    torchscript   torch.onnx.export(dynamo=False), operator set 17, dynamic batch and sequence
    dynamo        torch.onnx.export(dynamo=True), operator set 20, dynamic batch and sequence
    f32, f16      coremltools, ML Programs for iOS 17 of one fixed size

Needs torch, torchvision, onnx, onnxscript, coremltools 9.0 and for that a NumPy older than 2.4.
Usage: torch_models.py DIRECTORY [NAME[.EXPORT] ...]
"""

import math
import pathlib
import sys

import torch
from torch import nn

EXPORTS = ("torchscript", "dynamo", "f32", "f16")


class Layer(nn.Module):
    """A transformer layer that normalizes after each residual addition, as BERT does."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.first_norm, self.last_norm = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.rise, self.fall = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, mask):
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + mask
        attended = (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)
        x = self.first_norm(x + self.output(attended))
        return self.last_norm(x + self.fall(nn.functional.gelu(self.rise(x))))


class Encoder(nn.Module):
    def __init__(self, words, width, layers, heads, hidden, positions):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(positions, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))

    def forward(self, ids, mask):
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -1e4
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, bias)
        return x


def vit(image=224, patch=16, layers=12, heads=12, width=768, hidden=3072, classes=1000):
    from torchvision.models import VisionTransformer
    return VisionTransformer(image, patch, layers, heads, width, hidden, num_classes=classes)


MODELS = {
    "vit": lambda: vit(),
    "tiny_vit": lambda: vit(image=20, patch=4, layers=2, heads=3, width=24, hidden=36, classes=7),
    "encoder": lambda: Encoder(30522, 384, 6, 12, 1536, 512),
    "tiny_encoder": lambda: Encoder(61, 24, 2, 3, 44, 32),
}
OUTPUTS = {"vit": "logits", "tiny_vit": "logits", "encoder": "states", "tiny_encoder": "states"}


def build(name, seed=17):
    """The named model in evaluation mode. Parameters that start as zeros or ones get some noise."""
    torch.manual_seed(seed)
    model = MODELS[name]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1 or parameter.std() == 0:
                parameter += 0.1 * torch.randn_like(parameter)
        for head in model.modules():
            if isinstance(head, nn.Linear) and head.weight.std() < 1e-3:
                head.weight.normal_(std=head.in_features**-0.5)
    return model


def sample(name, seed=5):
    """Inputs by name: the sizes that an ML Program is fixed to."""
    random = torch.Generator().manual_seed(seed)
    if name.endswith("vit"):
        size = 20 if name.startswith("tiny") else 224
        return {"image": torch.randn(1, 3, size, size, generator=random)}
    words, count = (61, 11) if name.startswith("tiny") else (30522, 128)
    ids = torch.randint(0, words, (2 if name.startswith("tiny") else 1, count), generator=random)
    mask = torch.ones_like(ids)
    mask[-1, count * 3 // 4:] = 0
    return {"ids": ids, "mask": mask}


def export_onnx(model, name, path, dynamo):
    inputs = sample(name)
    axes = {0: "N"} if name.endswith("vit") else {0: "N", 1: "S"}
    if dynamo:
        sizes = {0: torch.export.Dim("N", min=1, max=64)}
        if not name.endswith("vit"):
            sizes[1] = torch.export.Dim("S", min=2, max=32 if name.startswith("tiny") else 512)
        values = tuple(torch.cat([value, value]) for value in inputs.values())
        torch.onnx.export(model, values, str(path), dynamo=True, opset_version=20, input_names=list(inputs),
                          output_names=[OUTPUTS[name]], dynamic_shapes={key: sizes for key in inputs}
                          if not name.endswith("vit") else (sizes,), external_data=False)
    else:
        torch.onnx.export(model, tuple(inputs.values()), str(path), dynamo=False, opset_version=17,
                          input_names=list(inputs), output_names=[OUTPUTS[name]],
                          dynamic_axes={key: axes for key in [*inputs, OUTPUTS[name]]})


def export_package(model, name, path, half):
    import coremltools as ct
    import numpy as np
    inputs = sample(name)
    values = tuple(value.to(torch.int32) if value.dtype == torch.int64 else value for value in inputs.values())
    traced = torch.jit.trace(model, values, check_trace=False)
    types = [ct.TensorType(name=key, shape=value.shape, dtype=np.int32 if value.dtype == torch.int32 else np.float32)
             for key, value in zip(inputs, values)]
    precision = ct.precision.FLOAT16 if half else ct.precision.FLOAT32
    ct.convert(traced, inputs=types, outputs=[ct.TensorType(name=OUTPUTS[name])], convert_to="mlprogram",
               minimum_deployment_target=ct.target.iOS17, compute_precision=precision,
               skip_model_load=True).save(str(path))


def export(directory, name, kind):
    """The path of one export, written unless it is there."""
    directory = pathlib.Path(directory)
    path = directory / (f"{name}_{kind}.onnx" if kind in ("torchscript", "dynamo") else f"{name}_{kind}.mlpackage")
    if path.exists():
        return path
    directory.mkdir(parents=True, exist_ok=True)
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad():
        if path.suffix == ".onnx":
            export_onnx(build(name), name, path, kind == "dynamo")
        else:
            export_package(build(name), name, path, kind == "f16")
    return path


if __name__ == "__main__":
    for wanted in sys.argv[2:] or MODELS:
        name, _, kind = wanted.partition(".")
        for each in [kind] if kind else EXPORTS:
            print(export(sys.argv[1], name, each))
