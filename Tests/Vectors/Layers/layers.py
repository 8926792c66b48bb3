"""One network for each layer of Core ML's NeuralNetwork: what the builder is told, and what must come out by NumPy's or
PyTorch's formulas in double precision."""

import numpy as np
import torch
import torch.nn.functional as F

CASES = []


def case(name, inputs, expected, build, legacy=False, outputs=1):
    """`inputs` are shapes or arrays by name; `expected` maps float64 arrays to the outputs."""
    CASES.append((name, inputs, expected, build, legacy, outputs))


def t(array):
    return torch.from_numpy(np.ascontiguousarray(array))


R = np.random.default_rng(20260807)


def f32(*shape, low=-1.0, high=1.0):
    return R.uniform(low, high, shape).astype(np.float32)


def conv(name, shape, cout, kernel, legacy=False, groups=1, stride=(1, 1), dilation=(1, 1), border="valid", bias=True,
         same="BOTTOM_RIGHT_HEAVY", pads=(0, 0, 0, 0)):
    cin = shape[-3]
    w, b = f32(cout, cin // groups, *kernel), f32(cout)

    def expected(x):
        top, bottom, left, right = pads
        if border == "same":
            amounts = []
            for size, k, s, d in zip(shape[-2:], kernel, stride, dilation):
                reach = (k - 1) * d + 1
                total = max(0, (-(-size // s) - 1) * s + reach - size)
                small, large = total // 2, total - total // 2
                amounts += [small, large] if same == "BOTTOM_RIGHT_HEAVY" else [large, small]
            top, bottom, left, right = amounts
        x4 = F.pad(t(x.reshape((-1,) + tuple(shape[-3:]))), (left, right, top, bottom))
        y = F.conv2d(x4, t(w.astype(float)), t(b.astype(float)) if bias else None, stride, 0, dilation, groups).numpy()
        return [y.reshape(tuple(shape[:-3]) + y.shape[1:])]

    def build(nn):
        nn.add_convolution("conv", cin // groups, cout, *kernel, *stride, border, groups, w.transpose(2, 3, 1, 0),
                           b if bias else None, bias, input_name="x", output_name="y", dilation_factors=list(dilation),
                           same_padding_asymmetry_mode=same, padding_top=pads[0], padding_bottom=pads[1],
                           padding_left=pads[2], padding_right=pads[3])

    case(name, {"x": shape}, expected, build, legacy)


conv("convolution_legacy", (3, 9, 7), 5, (3, 3), legacy=True)
conv("convolution_same", (2, 4, 10, 7), 6, (3, 2), border="same", stride=(2, 2), groups=2)
conv("convolution_same_top", (1, 3, 8, 8), 2, (3, 3), border="same", stride=(2, 2), same="TOP_LEFT_HEAVY", bias=False)
conv("convolution_padded_dilated", (1, 2, 11, 9), 3, (3, 3), dilation=(2, 3), pads=(1, 2, 3, 0))
conv("convolution_depthwise", (1, 6, 7, 7), 6, (3, 3), groups=6, border="same")


# Weights, and a bias, that are inputs.
case("convolution_given", {"x": (2, 3, 6, 5), "w": (4, 3, 3, 2)},
     lambda x, w: [F.conv2d(t(x), t(w), stride=(2, 1)).numpy()],
     lambda nn: nn.add_convolution("conv", 3, 4, 3, 2, 2, 1, "valid", 1, None, None, False, input_name=["x", "w"],
                                   output_name="y"))
case("convolution_given_bias", {"x": (1, 4, 6, 5), "w": (6, 2, 3, 3), "b": (6,)},
     lambda x, w, b: [F.conv2d(t(x), t(w), t(b), groups=2).numpy()],
     lambda nn: nn.add_convolution("conv", 2, 6, 3, 3, 1, 1, "valid", 2, None, None, False, input_name=["x", "w", "b"],
                                   output_name="y"))


def deconv(name, shape, cout, kernel, stride, border, groups=1, pads=(0, 0, 0, 0), output_shape=None):
    cin = shape[-3]
    w, b = f32(cin, cout // groups, *kernel), f32(cout)

    def expected(x):
        y = F.conv_transpose2d(t(x), t(w.astype(float)), t(b.astype(float)), stride, groups=groups).numpy()
        top, bottom, left, right = pads
        wanted = output_shape or [shape[-2] * stride[0], shape[-1] * stride[1]]
        if border == "same" or output_shape:
            cuts = [full - size for full, size in zip(y.shape[-2:], wanted)]
            top, left = cuts[0] // 2, cuts[1] // 2
            bottom, right = cuts[0] - top, cuts[1] - left
        return [y[..., top:y.shape[-2] - bottom, left:y.shape[-1] - right]]

    def build(nn):
        nn.add_convolution("deconv", cin, cout, *kernel, *stride, border, groups, w.transpose(2, 3, 1, 0), b, True, is_deconv=True, output_shape=output_shape,
                           input_name="x", output_name="y", padding_top=pads[0], padding_bottom=pads[1],
                           padding_left=pads[2], padding_right=pads[3])
        weights = nn.nn_spec.layers[-1].convolution
        weights.kernelChannels = cin
        del weights.weights.floatValue[:]
        weights.weights.floatValue.extend(w.flatten())

    case(name, {"x": shape}, expected, build)


deconv("deconvolution_valid", (1, 4, 5, 6), 3, (3, 2), (2, 3), "valid", pads=(1, 0, 0, 1))
deconv("deconvolution_same", (1, 4, 5, 6), 6, (4, 3), (2, 2), "same", groups=2)


def pool(name, shape, kind, kernel, stride, border, excludes=False, pads=(0, 0), legacy=False):
    def expected(x):
        x4 = x.reshape((-1,) + tuple(shape[-3:]))
        n, c, h, w = x4.shape
        (kh, kw), (sh, sw) = kernel, stride
        if border == "SAME":
            total = [max(0, (-(-size // s) - 1) * s + k - size) for size, k, s in zip((h, w), kernel, stride)]
            before = [v // 2 for v in total]
            after = [v - v // 2 for v in total]
            sizes = [-(-size // s) for size, s in zip((h, w), stride)]
        else:
            before = after = list(pads)
            sizes = []
            for size, k, s, p in zip((h, w), kernel, stride, pads):
                steps = size + 2 * p - k
                count = (-(-steps // s) if border == "INCLUDE_LAST_PIXEL" else steps // s) + 1
                if border == "INCLUDE_LAST_PIXEL" and any(pads) and (count - 1) * s >= size + p:
                    count -= 1
                sizes.append(count)
        y = np.zeros((n, c, *sizes))
        for i in range(sizes[0]):
            for j in range(sizes[1]):
                r0, c0 = i * sh - before[0], j * sw - before[1]
                r1, c1 = min(r0 + kh, h + after[0]), min(c0 + kw, w + after[1])
                window = x4[:, :, max(r0, 0):min(r1, h), max(c0, 0):min(c1, w)]
                if kind == "MAX":
                    y[:, :, i, j] = window.max((2, 3))
                elif kind == "L2":
                    y[:, :, i, j] = np.sqrt((window ** 2).sum((2, 3)))
                else:
                    count = window[0, 0].size if excludes else (r1 - r0) * (c1 - c0)
                    y[:, :, i, j] = window.sum((2, 3)) / count
        return [y.reshape(tuple(shape[:-3]) + y.shape[1:])]

    def build(nn):
        padding = dict(padding_top=pads[0], padding_bottom=pads[0], padding_left=pads[1], padding_right=pads[1])
        nn.add_pooling("pool", *kernel, *stride, kind, border, "x", "y", exclude_pad_area=excludes, **padding)

    case(name, {"x": shape}, expected, build, legacy)


pool("pooling_max_last_pixel", (3, 8, 7), "MAX", (3, 3), (2, 2), "INCLUDE_LAST_PIXEL", legacy=True)
pool("pooling_average_last_pixel", (1, 3, 8, 7), "AVERAGE", (3, 3), (2, 2), "INCLUDE_LAST_PIXEL", pads=(1, 1))
pool("pooling_average_same", (2, 3, 9, 8), "AVERAGE", (3, 2), (2, 2), "SAME", excludes=True)
pool("pooling_average_valid", (1, 2, 7, 7), "AVERAGE", (3, 3), (1, 2), "VALID", pads=(1, 1))
pool("pooling_l2", (1, 2, 7, 9), "L2", (3, 3), (2, 3), "VALID")
for kind, function in [("MAX", np.max), ("AVERAGE", np.mean)]:
    case(f"pooling_global_{kind.lower()}", {"x": (2, 3, 5, 4)}, lambda x, f=function: [f(x, (2, 3), keepdims=True)],
         lambda nn, k=kind: nn.add_pooling("pool", 0, 0, 1, 1, k, "VALID", "x", "y", is_global=True))

for kind, parameters, formula in [
        ("RELU", None, lambda x: np.maximum(x, 0)),
        ("LEAKYRELU", [0.3], lambda x: np.where(x >= 0, x, np.float32(0.3) * x)),
        ("THRESHOLDEDRELU", 0.25, lambda x: np.where(x >= 0.25, x, 0)),
        ("ELU", 0.7, lambda x: np.where(x >= 0, x, np.float32(0.7) * (np.exp(x) - 1))),
        ("TANH", None, np.tanh), ("SIGMOID", None, lambda x: 1 / (1 + np.exp(-x))),
        ("SCALED_TANH", [1.5, 0.5], lambda x: 1.5 * np.tanh(0.5 * x)),
        ("SIGMOID_HARD", [0.4, 0.3], lambda x: np.clip(np.float32(0.4) * x + np.float32(0.3), 0, 1)),
        ("LINEAR", [-2.0, 0.5], lambda x: -2 * x + 0.5),
        ("SOFTSIGN", None, lambda x: x / (1 + np.abs(x))), ("SOFTPLUS", None, lambda x: np.log1p(np.exp(x)))]:
    case(f"activation_{kind.lower()}", {"x": (2, 3, 4)}, lambda x, f=formula: [f(3 * x / 3)],
         lambda nn, k=kind, p=parameters: nn.add_activation("a", k, "x", "y", p))
SLOPE, ALPHA, BETA = f32(3), f32(3), f32(3)
case("activation_prelu", {"x": (3, 4, 5)},
     lambda x: [np.where(x >= 0, x, SLOPE[:, None, None].astype(float) * x)],
     lambda nn: nn.add_activation("a", "PRELU", "x", "y", SLOPE), legacy=True)
case("activation_parametricsoftplus", {"x": (1, 3, 4, 5)},
     lambda x: [ALPHA[:, None, None] * np.log1p(np.exp(BETA[:, None, None].astype(float) * x))],
     lambda nn: nn.add_activation("a", "PARAMETRICSOFTPLUS", "x", "y", [ALPHA, BETA]))

for mode, formula, options in [
        ("sqrt", np.sqrt, {}), ("rsqrt", lambda x: 1 / np.sqrt(x + 1e-3), {"epsilon": 1e-3}),
        ("inverse", lambda x: 1 / (x + 1e-3), {"epsilon": 1e-3}), ("power", lambda x: x ** 1.5, {"alpha": 1.5}),
        ("exp", lambda x: np.exp(2 * x - 1), {"scale": 2.0, "shift": -1.0}), ("log", np.log, {}),
        ("abs", np.abs, {}), ("threshold", lambda x: np.maximum(x, 1), {"alpha": 1.0})]:
    case(f"unary_{mode}", {"x": f32(2, 7, low=0.25, high=2)}, lambda x, f=formula: [f(x)],
         lambda nn, m=mode, o=options: nn.add_unary("u", "x", "y", m, **o))

for mode, formula in [("ADD", lambda a, b: a + b), ("MULTIPLY", lambda a, b: a * b), ("MAX", np.maximum),
                      ("MIN", np.minimum), ("AVE", lambda a, b: (a + b) / 2)]:
    case(f"elementwise_{mode.lower()}", {"a": (2, 3, 4, 5), "b": (2, 3, 4, 5)}, lambda a, b, f=formula: [f(a, b)],
         lambda nn, m=mode: nn.add_elementwise("e", ["a", "b"], "y", m))
case("elementwise_add_broadcast", {"a": (3, 4, 5), "b": (3, 1, 1)}, lambda a, b: [a + b],
     lambda nn: nn.add_elementwise("e", ["a", "b"], "y", "ADD"), legacy=True)
case("elementwise_add_number", {"x": (3, 4)}, lambda x: [x + np.float32(0.3)],
     lambda nn: nn.add_elementwise("e", ["x"], "y", "ADD", 0.3))
case("elementwise_dot", {"a": (2, 5, 1, 1), "b": (2, 5, 1, 1)}, lambda a, b: [(a * b).sum(1, keepdims=True)],
     lambda nn: nn.add_elementwise("e", ["a", "b"], "y", "DOT"))
case("elementwise_cosine", {"a": (2, 5, 1, 1), "b": (2, 5, 1, 1)},
     lambda a, b: [(a * b).sum(1, keepdims=True) / np.sqrt((a * a).sum(1, keepdims=True) * (b * b).sum(1, keepdims=True))],
     lambda nn: nn.add_elementwise("e", ["a", "b"], "y", "COS"))

SCALE, SHIFT, PLANE = f32(4), f32(4), f32(1, 5, 6)
case("scale", {"x": (4, 5, 6)}, lambda x: [SCALE[:, None, None].astype(float) * x + SHIFT[:, None, None]],
     lambda nn: nn.add_scale("s", SCALE, SHIFT, True, "x", "y", [4], [4]), legacy=True)
case("bias_plane", {"x": (2, 4, 5, 6)}, lambda x: [x + PLANE],
     lambda nn: nn.add_bias("b", PLANE, "x", "y", [1, 5, 6]))

GAMMA, BETA4, MEAN, VARIANCE = f32(4), f32(4), f32(4), f32(4, low=0.2, high=2)
C4 = (slice(None), None, None)
case("batchnorm", {"x": (2, 4, 3, 5)},
     lambda x: [GAMMA[C4].astype(float) * (x - MEAN[C4]) / np.sqrt(VARIANCE[C4] + 1e-3) + BETA4[C4]],
     lambda nn: nn.add_batchnorm("b", 4, GAMMA, BETA4, MEAN, VARIANCE, "x", "y", epsilon=1e-3))


def instance(x, axes):
    return GAMMA[C4].astype(float) * (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3) + BETA4[C4]


def add_batchnorm(nn, per_instance):
    nn.add_batchnorm("b", 4, GAMMA, BETA4, None, None, "x", "y", True, True, 1e-3)
    nn.nn_spec.layers[-1].batchnorm.instanceNormalization = per_instance


for name, axes, flag in [("instance", (2, 3), True), ("batch", (0, 2, 3), False)]:
    case(f"batchnorm_{name}", {"x": (2, 4, 3, 5)}, lambda x, a=axes: [instance(x, a)],
         lambda nn, f=flag: add_batchnorm(nn, f))
case("mvn_across", {"x": (2, 4, 3, 5)},
     lambda x: [(x - x.mean((1, 2, 3), keepdims=True)) / np.sqrt(x.var((1, 2, 3), keepdims=True) + 1e-4)],
     lambda nn: nn.add_mvn("m", "x", "y", True, True, 1e-4))
case("mvn_mean", {"x": (4, 3, 5)}, lambda x: [x - x.mean((1, 2), keepdims=True)],
     lambda nn: nn.add_mvn("m", "x", "y", False, False), legacy=True)
case("l2normalize", {"x": (2, 4, 3, 5)}, lambda x: [x / np.sqrt((x ** 2).sum((1, 2, 3), keepdims=True) + 1e-4)],
     lambda nn: nn.add_l2_normalize("l", "x", "y", 1e-4))


def lrn(x):
    padded = np.pad(x ** 2, ((0, 0), (2, 2), (0, 0), (0, 0)))
    sums = sum(padded[:, i:i + x.shape[1]] for i in range(5))
    return [x / (2 + 0.5 / 5 * sums) ** 0.75]


case("lrn", {"x": (2, 7, 3, 4)}, lrn, lambda nn: nn.add_lrn("l", "x", "y", 0.5, 0.75, 5, 2.0))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


case("softmax", {"x": (5, 2, 3)}, lambda x: [softmax(x, 0)], lambda nn: nn.add_softmax("s", "x", "y"), legacy=True)
case("softmax_vector", {"x": (7,)}, lambda x: [softmax(x, 0)], lambda nn: nn.add_softmax("s", "x", "y"), legacy=True)
case("softmaxND", {"x": (2, 5, 3)}, lambda x: [softmax(x, 1)], lambda nn: nn.add_softmax_nd("s", "x", "y", 1))
LN = (f32(3, 4), f32(3, 4))
case("layerNormalization", {"x": (2, 3, 4)},
     lambda x: [(x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5) * LN[0] + LN[1]],
     lambda nn: nn.add_layer_normalization("l", "x", "y", [3, 4], LN[0], LN[1]))

W, B = f32(5, 12), f32(5)
case("innerProduct_legacy", {"x": (3, 2, 2)}, lambda x: [x.reshape(-1) @ W.T.astype(float) + B],
     lambda nn: nn.add_inner_product("i", W, B, 12, 5, True, "x", "y"), legacy=True)
case("innerProduct", {"x": (2, 3, 12)}, lambda x: [x @ W.T.astype(float)],
     lambda nn: nn.add_inner_product("i", W, None, 12, 5, False, "x", "y"))
TABLE = f32(4, 6)
case("embedding", {"x": np.array([[2], [5], [0]], np.float32).reshape(3, 1, 1, 1)},
     lambda x: [(TABLE.T[x.astype(int).reshape(-1)] + B[:4]).reshape(3, 4, 1, 1)],
     lambda nn: nn.add_embedding("e", TABLE, B[:4], 6, 4, True, "x", "y"))
case("embeddingND", {"x": np.array([[2], [5], [0]], np.float32)}, lambda x: [TABLE.T[x.astype(int).reshape(-1)]],
     lambda nn: nn.add_embedding_nd("e", "x", "y", 6, 4, TABLE))
case("batchedMatmul", {"a": (2, 1, 3, 4), "b": (5, 6, 4)}, lambda a, b: [a @ b.transpose(0, 2, 1)],
     lambda nn: nn.add_batched_mat_mul("m", ["a", "b"], "y", False, True))
WM = f32(4, 6)
case("batchedMatmul_weights", {"a": (2, 3, 4)}, lambda a: [a @ WM.astype(float) + f6],
     lambda nn: nn.add_batched_mat_mul("m", ["a"], "y", weight_matrix_rows=4, weight_matrix_columns=6, W=WM, bias=f6))
f6 = f32(6)
