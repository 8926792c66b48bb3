"""Cases of layer attributes, beyond those of layers.py. They use a separate random generator, so that other cases do
not change."""

import numpy as np
import torch.nn.functional as F
from coremltools.proto import NeuralNetwork_pb2

from layers import case, t
from movement import bilinear

R = np.random.default_rng(20261127)


def f32(*shape):
    return R.uniform(-1, 1, shape).astype(np.float32)


def packed(codes, bits, scales):
    """Codes of a few bits with a scale for each output channel, biases left out."""
    digits = "".join(format(int(code), f"0{bits}b") for code in codes.flat)
    digits += "0" * (-len(digits) % 8)
    stored = NeuralNetwork_pb2.WeightParams()
    stored.rawValue = bytes(int(digits[place:place + 8], 2) for place in range(0, len(digits), 8))
    stored.quantization.numberOfBits = bits
    stored.quantization.linearQuantization.scale.extend(scales.tolist())
    return stored


def quantized_deconvolution(name, groups, shape, kernel, function, scales):
    """Weights are [inputs, outputs / groups, …]; there is a scale for each output, or for each of a group's."""
    x, outputs = f32(*shape), 6
    codes = R.integers(0, 8, (shape[1], outputs // groups, *kernel))
    values = R.uniform(0.05, 0.2, outputs if scales == "all" else outputs // groups).astype(np.float32)
    by_group = np.broadcast_to(values.reshape(-1, outputs // groups), (groups, outputs // groups))
    factors = np.repeat(by_group, shape[1] // groups, axis=0).reshape(codes.shape[:2] + (1,) * len(kernel))
    weights, stored = codes * factors.astype(float), packed(codes, 3, values)

    def build(nn):
        layer = nn.nn_spec.layers.add()
        layer.name, layer.input[:], layer.output[:] = "d", ["x"], ["y"]
        if len(kernel) == 2:
            p = layer.convolution
            p.kernelChannels, p.kernelSize[:] = shape[1], kernel
        else:
            p = layer.convolution3d
            p.inputChannels, p.paddingType = shape[1], 1
            p.kernelDepth, p.kernelHeight, p.kernelWidth = kernel
        p.outputChannels, p.nGroups, p.isDeconvolution = outputs, groups, True
        p.weights.CopyFrom(stored)

    case(name, {"x": x}, lambda x: [function(t(x), t(weights), groups=groups).numpy()], build)


quantized_deconvolution("deconvolution_quantized_groups", 2, (1, 4, 3, 3), (3, 2), F.conv_transpose2d, "all")
quantized_deconvolution("deconvolution_quantized_group", 2, (1, 4, 3, 3), (3, 2), F.conv_transpose2d, "one")
quantized_deconvolution("deconvolution3d_quantized", 1, (1, 4, 2, 3, 2), (2, 2, 2), F.conv_transpose3d, "all")


def deconvolution3d(name, mode, output_shape=None, amounts=(0,) * 6, stride=(2, 1, 2)):
    """The elements that padding or a declared size removes from (size - 1) · stride + kernel; of an odd number, the
    extra one from the end."""
    shape, kernel = (1, 2, 3, 4, 2), (3, 2, 4)
    w, b = f32(2, 3, *kernel), f32(3)

    def expected(x):
        y = F.conv_transpose3d(t(x), t(w.astype(float)), t(b.astype(float)), stride).numpy()
        wanted = output_shape or [n * s for n, s in zip(shape[2:], stride)]
        for axis, size in enumerate(wanted):
            first, last = amounts[2 * axis:2 * axis + 2]
            surplus = y.shape[2 + axis] - first - last - size
            y = np.take(y, range(first + surplus // 2, first + surplus // 2 + size), axis=2 + axis)
        return [y]

    case(name, {"x": shape}, expected, lambda nn: nn.add_convolution3d(
        "d", 2, 3, *kernel, w.swapaxes(0, 1), b, True, stride_depth=stride[0], stride_height=stride[1],
        stride_width=stride[2],
        padding_mode=mode, is_deconv=True, output_shape=output_shape, input_name="x", output_name="y",
        **dict(zip([f"padding_{edge}" for edge in ("front", "back", "top", "bottom", "left", "right")], amounts))))


deconvolution3d("deconvolution3d_same", "same")
deconvolution3d("deconvolution3d_sized", "valid", [6, 4, 5])
deconvolution3d("deconvolution3d_padded_sized", "custom", [5, 3, 5], (1, 0, 1, 0, 0, 1))


def crop_resize(name, mode, places):
    """Boxes in pixels, corners of rows first, in an image of 6 × 7."""
    boxes = np.array([[0, 0, 5, 6], [1.25, 2, 3.5, 4.75], [2, 3, 2.5, 3.25], [4.75, 5.75, 5, 6]], np.float32)

    def expected(x, r):
        corners = r.reshape(-1, 4)
        return [np.stack([bilinear(x[0], places(c[0], c[2], 4, 6), places(c[1], c[3], 5, 7)) for c in corners])]

    case(name, {"x": (1, 1, 2, 6, 7), "r": boxes.reshape(-1, 1, 4, 1, 1)}, expected, lambda nn: nn.add_crop_resize(
        "c", ["x", "r"], "y", target_height=4, target_width=5, mode=mode, normalized_roi=False,
        box_indices_mode="CORNERS_HEIGHT_FIRST"))


# Samples of a box stay in it; of one that reaches less than a pixel, and counts as one, in the image.
crop_resize("cropResize_upsample", "UPSAMPLE_MODE",
            lambda low, high, n, size: np.minimum(high, low + np.arange(n) * (high - low + 1) / n))
crop_resize("cropResize_align", "ROI_ALIGN_MODE",
            lambda low, high, n, size: np.minimum(size - 1, low + (np.arange(n) + 0.5) * max(1, high - low) / n))
