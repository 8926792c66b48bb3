"""Definitions in float64 for operators whose reference evaluation is not double precision."""

import math

import numpy as np

_erf = np.vectorize(math.erf, otypes=[np.float64])


def erf(x):
    return _erf(x)


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def log_sum_exp(x, axes=None, keepdims=1, noop_with_empty_axes=0):
    if axes is None and noop_with_empty_axes:
        return x
    axes = None if axes is None else tuple(axes)
    peak = x.max(axis=axes, keepdims=True)
    total = peak + np.log(np.exp(x - peak).sum(axis=axes, keepdims=True))
    return total if keepdims else np.squeeze(total, axis=axes)


def selu(x, alpha=1.67326319217681884765625, gamma=1.05070102214813232421875):
    return gamma * np.where(x > 0, x, alpha * np.expm1(x))


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x))


def softplus(x):
    return np.logaddexp(0, x)


def softmax(x, axis=-1):
    shifted = np.exp(x - x.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def hard_sigmoid(x, alpha=0.2, beta=0.5):
    return np.clip(alpha * x + beta, 0, 1)


def hard_swish(x):
    return x * np.clip(x / 6 + 0.5, 0, 1)


def convolution(x, weight, bias=None, strides=None, dilations=None, pads=None, group=1, auto_pad="NOTSET",
                kernel_shape=None):
    """One or two spatial dimensions, as the ONNX specification's sums; `kernel_shape` follows from the weight."""
    spatial = x.ndim - 2
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    extents = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilations)]
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        totals = [max((-(-n // s) - 1) * s + e - n, 0) for n, s, e in zip(x.shape[2:], strides, extents)]
        small, large = [t // 2 for t in totals], [t - t // 2 for t in totals]
        begin, end = (small, large) if auto_pad == "SAME_UPPER" else (large, small)
    else:
        begin, end = (pads or [0] * 2 * spatial)[:spatial], (pads or [0] * 2 * spatial)[spatial:]
    padded = np.pad(x, [(0, 0), (0, 0), *zip(begin, end)])
    sizes = [(n - e) // s + 1 for n, e, s in zip(padded.shape[2:], extents, strides)]
    depth, width = weight.shape[1], weight.shape[0] // group
    result = np.zeros((x.shape[0], weight.shape[0], *sizes))
    for tap in np.ndindex(*weight.shape[2:]):
        window = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, sizes, strides))
        part = padded[(slice(None), slice(None), *window)]
        for g in range(group):
            rows = slice(g * width, (g + 1) * width)
            result[:, rows] += np.einsum("nc...,oc->no...", part[:, g * depth:(g + 1) * depth],
                                         weight[(rows, slice(None), *tap)])
    return result if bias is None else result + bias.reshape(1, -1, *[1] * spatial)


def pad(x, pads, value=0.0, mode="constant"):
    """A negative amount removes elements; removal comes first."""
    ends = list(zip(pads[:x.ndim], pads[x.ndim:]))
    kept = x[tuple(slice(max(-b, 0), n - max(-e, 0)) for (b, e), n in zip(ends, x.shape))]
    widths = [(max(b, 0), max(e, 0)) for b, e in ends]
    return np.pad(kept, widths, mode=mode, **({"constant_values": value} if mode == "constant" else {}))


def convolution_transpose(x, weight, bias=None, strides=None, dilations=None, pads=None, group=1, auto_pad="NOTSET",
                          output_padding=None, output_shape=None, kernel_shape=None):
    """Each element of x adds its multiple of the filters, then the padding is cut off; `kernel_shape` follows from the
    weight."""
    spatial = x.ndim - 2
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    extra = output_padding or [0] * spatial
    extents = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilations)]
    full = [s * (n - 1) + e + p for s, n, e, p in zip(strides, x.shape[2:], extents, extra)]
    if auto_pad in ("SAME_UPPER", "SAME_LOWER") and output_shape is None:
        output_shape = [n * s for n, s in zip(x.shape[2:], strides)]
    if output_shape is not None:
        totals = [f - n for f, n in zip(full, output_shape)]
        small, large = [t // 2 for t in totals], [t - t // 2 for t in totals]
        begin, end = (small, large) if auto_pad == "SAME_UPPER" else (large, small)
    else:
        begin, end = (pads or [0] * 2 * spatial)[:spatial], (pads or [0] * 2 * spatial)[spatial:]
    depth, width = weight.shape[0] // group, weight.shape[1]
    result = np.zeros((x.shape[0], width * group, *full))
    for tap in np.ndindex(*weight.shape[2:]):
        window = tuple(slice(t * d, t * d + (n - 1) * s + 1, s)
                       for t, d, n, s in zip(tap, dilations, x.shape[2:], strides))
        for g in range(group):
            rows = slice(g * depth, (g + 1) * depth)
            result[(slice(None), slice(g * width, (g + 1) * width), *window)] += np.einsum(
                "nc...,co->no...", x[:, rows], weight[(rows, slice(None), *tap)])
    result = result[(slice(None), slice(None), *(slice(b, n - e) for b, n, e in zip(begin, full, end)))]
    return result if bias is None else result + bias.reshape(1, -1, *[1] * spatial)


def group_normalization(x, scale, shift, num_groups, epsilon=1e-5):
    groups = x.reshape(x.shape[0], num_groups, -1)
    mean, variance = groups.mean(-1, keepdims=True), groups.var(-1, keepdims=True)
    channels = (-1, *[1] * (x.ndim - 2))
    return ((groups - mean) / np.sqrt(variance + epsilon)).reshape(x.shape) * scale.reshape(channels) + shift.reshape(
        channels)


def rms_normalization(x, scale, axis=-1, epsilon=1e-5):
    axes = tuple(range(axis % x.ndim, x.ndim))
    return x / np.sqrt((x * x).mean(axis=axes, keepdims=True) + epsilon) * scale


def mean_variance_normalization(x, axes=(0, 2, 3)):
    axes = tuple(axes)
    return (x - x.mean(axis=axes, keepdims=True)) / (x.std(axis=axes, keepdims=True) + 1e-9)


def local_response_normalization(x, size, alpha=1e-4, beta=0.75, bias=1.0):
    sums = np.zeros_like(x)
    for channel in range(x.shape[1]):
        first, last = max(0, channel - (size - 1) // 2), channel + size // 2 + 1
        sums[:, channel] = np.square(x[:, first:last]).sum(axis=1)
    return x / (bias + alpha / size * sums) ** beta


def lp_normalization(x, axis=-1, p=2):
    return x / (np.abs(x) ** p).sum(axis=axis, keepdims=True) ** (1 / p)


def hardmax(x, axis=-1):
    return (np.arange(x.shape[axis]).reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
            == x.argmax(axis=axis, keepdims=True)).astype(x.dtype)


FORMULAS = {"ConvTranspose": convolution_transpose, "GroupNormalization": group_normalization,
            "RMSNormalization": rms_normalization, "Hardmax": hardmax, "LRN": local_response_normalization,
            "LpNormalization": lp_normalization, "MeanVarianceNormalization": mean_variance_normalization,
            "Erf": erf, "Gelu": gelu, "ReduceLogSumExp": log_sum_exp, "Selu": selu, "Elu": elu, "Softplus": softplus,
            "Softmax": softmax, "Sigmoid": sigmoid, "HardSigmoid": hard_sigmoid, "HardSwish": hard_swish,
            "Conv": convolution, "Pad": pad}
