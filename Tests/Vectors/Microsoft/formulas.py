"""The results of `com.microsoft` operators that ONNX Runtime has no CPU kernels for, in double precision."""

from math import erf

import numpy as np


def softmax(x):
    shares = np.exp(x - x.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return x / 2 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def heads(x, count):
    """`[N, S, heads · D]` as `[N, heads, S, D]`."""
    return x.reshape(*x.shape[:2], count, -1).transpose(0, 2, 1, 3)


def joined(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def attention(query, key, value, mask=0.0, scale=None):
    """Attention of `[N, heads, S, D]`."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return softmax(query @ key.swapaxes(-1, -2) * scale + mask) @ value


def group_norm(x, groups, gamma, beta, epsilon=1e-5):
    """Group normalization with channels last."""
    n, height, width, channels = x.shape
    parts = x.astype(np.float64).reshape(n, height, width, groups, channels // groups)
    mean = parts.mean((1, 2, 4), keepdims=True)
    normal = (parts - mean) / np.sqrt(parts.var((1, 2, 4), keepdims=True) + epsilon)
    return normal.reshape(x.shape) * gamma + beta


def convolution(x, w, strides, pads):
    """Convolution of `[N, C, H, W]` and `[M, C, h, w]`, by its definition."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    height = (x.shape[2] - w.shape[2]) // strides[0] + 1
    width = (x.shape[3] - w.shape[3]) // strides[1] + 1
    y = np.zeros((x.shape[0], w.shape[0], height, width))
    for row in range(height):
        for column in range(width):
            top, left = row * strides[0], column * strides[1]
            window = x[:, :, top:top + w.shape[2], left:left + w.shape[3]]
            y[:, :, row, column] = np.einsum("nchw,mchw->nm", window, w)
    return y


def relative_buckets(count, limit, is_bidirectional, queries, keys):
    buckets = np.zeros((queries, keys), np.int64)
    half = count // 2 if is_bidirectional else count
    exact = half // 2
    for query in range(queries):
        for key in range(keys):
            offset = key - query
            first = half if is_bidirectional and offset > 0 else 0
            distance = abs(offset) if is_bidirectional else max(-offset, 0)
            if distance >= exact:
                share = np.log(distance / exact) / np.log(limit / exact)
                distance = min(exact + int(share * (half - exact)), half - 1)
            buckets[query, key] = first + distance
    return buckets


def routes(router, count, normalizes):
    """The weight of each expert for each token."""
    shares, weights = softmax(router.astype(np.float64)), np.zeros(router.shape)
    for token, row in enumerate(shares):
        best = np.argsort(-row, kind="stable")[:count]
        weights[token, best] = row[best] / (row[best].sum() if normalizes else 1)
    return weights


def experts(x, weights, layers, activation):
    """The sum over experts, of which `layers` gives two layers and their biases."""
    total = 0
    for expert in range(weights.shape[1]):
        first, bias, second, bias2 = (layer[expert] for layer in layers)
        total = total + weights[:, expert:expert + 1] * (activation(x @ first.T + bias) @ second.T + bias2)
    return total
