"""Writes Digits.onnx, float32 with a dynamic batch dimension "N", from build/digits.pt.

Input "image" [N, 3, 64, 64]: RGB values 0...255; the normalization is part of the graph.
Output "probabilities" [N, 10].
"""

import io
import json
import pathlib

import onnx
import torch

from digits import BIAS, LABELS, SCALE, SIZE, DigitNet
from train import WEIGHTS

TARGET = pathlib.Path(__file__).parent / "Digits.onnx"
OPSET = 17
METADATA = {
    "Image.BitmapPixelFormat": "Rgb8",
    "Image.ColorSpaceGamma": "SRGB",
    "Image.NominalPixelRange": "NominalRange_0_255",
    "classes": json.dumps(LABELS),
}


class Normalized(torch.nn.Module):
    """Computes probabilities from pixel values."""

    def __init__(self, network):
        super().__init__()
        self.digits = network
        self.register_buffer("scale", torch.full((1, 3, 1, 1), SCALE))
        self.register_buffer("bias", torch.full((1, 3, 1, 1), BIAS))

    def forward(self, image):
        return torch.softmax(self.digits(image * self.scale + self.bias), dim=1)


def constants_as_initializers(graph):
    """Moves every Constant node to the initializers, so that only computing nodes remain."""
    for node in [n for n in graph.node if n.op_type == "Constant"]:
        tensor = node.attribute[0].t
        tensor.name = node.output[0]
        graph.initializer.append(tensor)
        graph.node.remove(node)


def main():
    network = DigitNet()
    network.load_state_dict(torch.load(WEIGHTS))
    file = io.BytesIO()
    torch.onnx.export(Normalized(network).eval(), (torch.zeros(1, 3, SIZE, SIZE),), file, dynamo=False,
                      opset_version=OPSET, input_names=["image"], output_names=["probabilities"],
                      dynamic_axes={"image": {0: "N"}, "probabilities": {0: "N"}})
    model = onnx.load_model_from_string(file.getvalue())
    constants_as_initializers(model.graph)
    model.graph.name = "Digits"
    model.graph.doc_string = "Reads one handwritten digit from a colour image."
    for node in model.graph.node:
        node.ClearField("doc_string")
    onnx.helper.set_model_props(model, METADATA)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, TARGET)


if __name__ == "__main__":
    main()
