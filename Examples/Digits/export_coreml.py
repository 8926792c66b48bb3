"""Writes Digits.mlpackage, a float16 ML Program with an RGB image input, from build/digits.pt."""

import pathlib
import shutil

import coremltools as ct
import torch

from digits import BIAS, LABELS, SCALE, SIZE, DigitNet
from train import WEIGHTS

TARGET = pathlib.Path(__file__).parent / "Digits.mlpackage"
METADATA = {
    "author": "The Kelvin authors",
    "short_description": "Reads one handwritten digit from a colour image.",
    "license": "Apache-2.0",
    "version": "1.0",
}


def main():
    network = DigitNet()
    network.load_state_dict(torch.load(WEIGHTS))
    classifier = torch.nn.Sequential(network, torch.nn.Softmax(dim=1)).eval()
    traced = torch.jit.trace(classifier, torch.zeros(1, 3, SIZE, SIZE))
    image = ct.ImageType(name="image", shape=(1, 3, SIZE, SIZE), scale=SCALE, bias=[BIAS] * 3,
                         color_layout=ct.colorlayout.RGB)
    model = ct.convert(traced, inputs=[image], convert_to="mlprogram",
                       classifier_config=ct.ClassifierConfig(class_labels=LABELS),
                       minimum_deployment_target=ct.target.iOS16)
    for name, value in METADATA.items():
        setattr(model, name, value)
    model.input_description["image"] = "One digit, any colours; 64 by 64 pixels."
    shutil.rmtree(TARGET, ignore_errors=True)
    model.save(str(TARGET))


if __name__ == "__main__":
    main()
