"""Draws networks of timm by a seed and exports them to ONNX with seeded random weights. Needs torch, timm and onnxscript."""

import random
import sys

import timm
import torch
from torch import nn

LARGEST = 256
MOST_PARAMETERS = 60_000_000


def drawn(seed, count):
    """Names of networks: one after the other from a random family, until all families are used up or there are enough. Networks for
    images above 256x256 and with more than 60 million parameters are left out."""
    draw = random.Random(seed)
    families = {module: timm.list_models(module=module) for module in timm.list_modules()}
    names = []
    while len(names) < count and any(families.values()):
        for module in draw.sample(sorted(families), len(families)):
            rest = families[module]
            draw.shuffle(rest)
            while rest and len(names) < count:
                name = rest.pop()
                if is_suitable(name):
                    names.append(name)
                    break
    return names


def is_suitable(name):
    try:
        with torch.device("meta"):
            network = timm.create_model(name, pretrained=False)
    except Exception as error:  # networks of timm fail in many ways without their weights
        print(f"{name} is left out: {str(error).splitlines()[0][:100]}", file=sys.stderr)
        return False
    return side(network) <= LARGEST and sum(each.numel() for each in network.parameters()) <= MOST_PARAMETERS


def side(network):
    return max(network.default_cfg["input_size"][1:])


def noisy(network):
    """The network in evaluation mode. Parameters and averages that start as zeros or ones get some noise."""
    with torch.no_grad():
        for values in [*network.parameters(), *network.buffers()]:
            if values.is_floating_point() and (values.ndim == 1 or values.numel() > 1 and values.std() == 0):
                values += 0.1 * torch.randn_like(values).abs()
        for head in network.modules():
            if isinstance(head, nn.Linear) and head.weight.std() < 1e-3:
                head.weight.normal_(std=head.in_features**-0.5)
    return network.eval()


def export(name, seed, path):
    """Writes the network as an ONNX file of batch 1, with the input "image" and the output "logits"; returns the shape of the input."""
    torch.manual_seed(seed)
    network = noisy(timm.create_model(name, pretrained=False, exportable=True))
    shape = (1, *network.default_cfg["input_size"])
    partial = path.with_suffix(".partial")
    with torch.no_grad():
        torch.onnx.export(network, torch.randn(shape), str(partial), dynamo=False, opset_version=17, input_names=["image"],
                          output_names=["logits"])
    partial.rename(path)
    return shape
