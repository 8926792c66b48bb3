"""The digits as RGB images, the network that reads them, and the split between training and held-out digits.

Source of the digits: scikit-learn's bundled `load_digits`, 1797 handwritten digits of 8x8 pixels, values 0 to 16
(the test half of the UCI "Optical Recognition of Handwritten Digits" set).
"""

import math
from collections import OrderedDict

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

LABELS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
SIZE = 64
HELD_OUT = 360
SEED = 20
SCALE = 1 / 127.5
BIAS = -1.0


def split():
    """Returns (glyphs, truths, training indices, held-out indices). The glyphs are [1797, 8, 8] in 0...1; the split is
    stratified by digit."""
    data = load_digits()
    glyphs = torch.tensor(data.images, dtype=torch.float32) / 16
    truths = torch.tensor(data.target, dtype=torch.long)
    training, held_out = train_test_split(
        range(len(glyphs)), test_size=HELD_OUT, stratify=data.target, random_state=SEED)
    return glyphs, truths, torch.tensor(training), torch.tensor(sorted(held_out))


def uniform(generator, shape, low, high):
    return low + (high - low) * torch.rand(shape, generator=generator)


def luma(colour):
    return (colour * torch.tensor([0.299, 0.587, 0.114])).sum(1, keepdim=True)


def ink_and_paper(count, generator, contrast=0.4):
    """Returns random color pairs [count, 3] whose luma differs by at least `contrast`, dark on light or light on
    dark."""
    paper = uniform(generator, (count, 3), 0, 1)
    ink = uniform(generator, (count, 3), 0, 1)
    paper_luma, ink_luma = luma(paper), luma(ink)
    goal = (paper_luma < 0.5).float()
    wanted = paper_luma + contrast * (2 * goal - 1)
    push = ((wanted - ink_luma) / (goal - ink_luma + 1e-6)).clamp(0, 1)
    too_close = (paper_luma - ink_luma).abs() < contrast
    return torch.where(too_close, ink + (goal - ink) * push, ink), paper


def grid(count, height, width, generator):
    """Returns the glyph position that each output pixel samples, with random scale, rotation, shear and shift about the
    center.

    Coordinates are in halves of the short side, so the digit stays inside the central square.
    """
    half = min(height, width) / 2
    v, u = torch.meshgrid((torch.arange(height) + 0.5 - height / 2) / half,
                          (torch.arange(width) + 0.5 - width / 2) / half, indexing="ij")
    angle = uniform(generator, (count, 1, 1), -0.22, 0.22)
    shear = uniform(generator, (count, 1, 1), -0.2, 0.2)
    zoom = uniform(generator, (count, 1, 1), 0.65, 1.0)
    stretch = uniform(generator, (count, 1, 1), 0.85, 1.15)
    u = u - uniform(generator, (count, 1, 1), -0.12, 0.12)
    v = v - uniform(generator, (count, 1, 1), -0.12, 0.12)
    x = (u * angle.cos() + v * angle.sin()) / (zoom * stretch)
    y = (v * angle.cos() - u * angle.sin()) / zoom
    return torch.stack([x + shear * y, y], dim=-1)


def render(glyphs, height, width, generator):
    """Returns RGB images [B, 3, height, width] with integer values 0...255 from glyphs [B, 8, 8] in 0...1."""
    count = len(glyphs)
    framed = F.pad(glyphs[:, None], (1, 1, 1, 1))
    positions = grid(count, height, width, generator) * (8 / 10)
    coverage = F.grid_sample(framed, positions, mode="bicubic", align_corners=False)
    coverage = (coverage * uniform(generator, (count, 1, 1, 1), 0.9, 1.4)).clamp(0, 1)
    ink, paper = ink_and_paper(count, generator)
    texture = F.interpolate(uniform(generator, (count, 3, 4, 4), -1, 1), (height, width), mode="bicubic")
    shade = F.interpolate(uniform(generator, (count, 1, 2, 2), -1, 1), (height, width), mode="bilinear")
    paper = paper[:, :, None, None] + 0.05 * texture + 0.1 * shade
    image = paper + (ink[:, :, None, None] - paper) * coverage
    noise = torch.randn(image.shape, generator=generator) * uniform(generator, (count, 1, 1, 1), 0, 0.03)
    return ((image + noise) * 255).round().clamp(0, 255)


def convolution(channels_in, channels_out, kernel, stride=1, groups=1, activation=True):
    layers = {"conv": nn.Conv2d(channels_in, channels_out, kernel, stride, kernel // 2, groups=groups, bias=False),
              "norm": nn.BatchNorm2d(channels_out)}
    if activation:
        layers["relu6"] = nn.ReLU6()
    return nn.Sequential(OrderedDict(layers))


class InvertedResidual(nn.Module):
    """Pointwise expansion, depthwise 3x3, linear pointwise projection. The input is added if the shapes are equal."""

    def __init__(self, channels_in, channels_out, stride, expansion):
        super().__init__()
        hidden = channels_in * expansion
        self.expand = convolution(channels_in, hidden, 1) if expansion > 1 else None
        self.depthwise = convolution(hidden, hidden, 3, stride, groups=hidden)
        self.project = convolution(hidden, channels_out, 1, activation=False)
        self.residual = stride == 1 and channels_in == channels_out

    def forward(self, x):
        branch = self.project(self.depthwise(self.expand(x) if self.expand else x))
        return x + branch if self.residual else branch


class DigitNet(nn.Module):
    """Converts [B, 3, 64, 64] in -1...1 to logits [B, 10]."""

    STAGES = [(1, 16, 1, 1), (4, 24, 2, 2), (4, 32, 3, 2), (4, 48, 2, 2)]

    def __init__(self):
        super().__init__()
        self.stem = convolution(3, 16, 3, stride=2)
        blocks, channels = OrderedDict(), 16
        for expansion, width, count, stride in self.STAGES:
            for index in range(count):
                block = InvertedResidual(channels, width, stride if index == 0 else 1, expansion)
                blocks[f"block{len(blocks) + 1}"] = block
                channels = width
        self.blocks = nn.Sequential(blocks)
        self.head = convolution(channels, 128, 1)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(128, len(LABELS))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                fan_out = module.kernel_size[0] * module.kernel_size[1] * module.out_channels // module.groups
                nn.init.normal_(module.weight, 0, math.sqrt(2 / fan_out))

    def forward(self, x):
        return self.classifier(self.pool(self.head(self.blocks(self.stem(x)))).flatten(1))
