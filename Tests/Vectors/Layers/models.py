"""Writes models.json: outputs of the networks in ../shared/models for made-up images.

The layers are evaluated one after the other with PyTorch in double precision; coremltools itself expands quantized weights.
A pixel is `(7x + 13y + 59c + xy div 31) mod 256`, its channels in the order red, green, blue; the segmentation network,
for which that is all background, is given a part of a photo. Of every array 256 equally
spaced elements are kept, of a classifier the 20 most probable labels.
"""

import json
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from coremltools.models.neural_network import quantization_utils
from coremltools.proto import Model_pb2
from PIL import Image

HERE = pathlib.Path(__file__).parent
NETWORKS = ["SqueezeNetFP16", "SqueezeNetInt8LUT", "DeepLabV3Int8LUT", "fritz_human_pose_small", "MobileNetV2_nn_f16",
            "MobileNetV2_nn_int8lin"]
SAMPLES = 256
PHOTOS = {"DeepLabV3Int8LUT": {"file": "images/photos/cat_720p.jpg", "left": 380, "top": 100}}


def weights(parameters, shape):
    if parameters.rawValue:
        linear = parameters.quantization.linearQuantization
        if len(linear.scale) == 1 and len(shape) > 1:
            linear.scale.extend(list(linear.scale) * (shape[0] - 1))
            linear.bias.extend(list(linear.bias) * (shape[0] - 1))
        quantization_utils._dequantize_wp(parameters, shape)
    if parameters.float16Value:
        values = np.frombuffer(parameters.float16Value, np.float16)
    else:
        values = np.array(parameters.floatValue, np.float32)
    return torch.from_numpy(values.astype(np.float64).reshape(shape))


def padded(x, layer, kernel, stride, dilation=(1, 1)):
    if layer.HasField("same"):
        amounts = []
        for size, k, s, d in zip(x.shape[-2:], kernel, stride, dilation):
            total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
            half = total // 2
            amounts.append((half, total - half) if layer.same.asymmetryMode == 0 else (total - half, half))
        return amounts
    borders = layer.valid.paddingAmounts.borderAmounts if layer.HasField("valid") else []
    return [(b.startEdgeSize, b.endEdgeSize) for b in borders] or [(0, 0), (0, 0)]


def convolution(layer, x):
    kernel, stride = list(layer.kernelSize) or [3, 3], list(layer.stride) or [1, 1]
    dilation, groups = list(layer.dilationFactor) or [1, 1], layer.nGroups or 1
    w = weights(layer.weights, (layer.outputChannels, layer.kernelChannels, *kernel))
    b = weights(layer.bias, (layer.outputChannels,)) if layer.hasBias else None
    (top, bottom), (left, right) = padded(x, layer, kernel, stride, dilation)
    return F.conv2d(F.pad(x, (left, right, top, bottom)), w, b, stride, 0, dilation, groups)


def pooling(layer, x):
    if layer.globalPooling:
        return x.mean((2, 3), keepdim=True) if layer.type == 1 else x.amax((2, 3), keepdim=True)
    if layer.HasField("includeLastPixel"):
        assert not any(layer.includeLastPixel.paddingAmounts) and layer.type == 0
        return F.max_pool2d(x, list(layer.kernelSize), list(layer.stride), ceil_mode=True)
    assert padded(x, layer, layer.kernelSize, layer.stride) == [(0, 0), (0, 0)] and layer.type == 1
    return F.avg_pool2d(x, list(layer.kernelSize), list(layer.stride))


def activation(layer, x):
    kind = layer.WhichOneof("NonlinearityType")
    if kind == "ReLU":
        return x.clamp(min=0)
    if kind == "linear":
        return layer.linear.alpha * x + layer.linear.beta
    assert kind == "sigmoid"
    return torch.sigmoid(x)


def resize(layer, x):
    assert layer.mode.samplingMethod == 0
    return F.interpolate(x, list(layer.targetSize), mode="bilinear", align_corners=True)


def evaluate(layer, inputs):
    kind = layer.WhichOneof("layer")
    parameters = getattr(layer, kind)
    x = inputs[0] if inputs else None
    if kind == "convolution":
        return convolution(parameters, x)
    if kind == "pooling":
        return pooling(parameters, x)
    if kind == "activation":
        return activation(parameters, x)
    if kind == "resizeBilinear":
        return resize(parameters, x)
    if kind == "unary":
        assert parameters.type == 7 and (parameters.scale or 1) == 1 and parameters.shift == 0
        return x.clamp(min=parameters.alpha)
    if kind == "add":
        return inputs[0] + inputs[1] if len(inputs) == 2 else x + parameters.alpha
    if kind == "multiply":
        return inputs[0] * inputs[1] if len(inputs) == 2 else x * parameters.alpha
    if kind == "concat":
        return torch.cat(inputs, -3)
    if kind == "softmax":
        return x.softmax(-3)
    if kind == "softmaxND":
        return x.softmax(parameters.axis)
    if kind == "reshapeStatic":
        return x.reshape(list(parameters.targetShape))
    if kind == "loadConstant":
        return weights(parameters.data, (1, *parameters.shape))
    if kind == "padding":
        (top, bottom), (left, right) = [(b.startEdgeSize, b.endEdgeSize) for b in parameters.paddingAmounts.borderAmounts]
        return F.pad(x, (left, right, top, bottom), value=parameters.constant.value)
    if kind == "reduce":
        assert parameters.mode == 9 and parameters.axis == 2
        return x.argmax(1, keepdim=True)
    raise NotImplementedError(kind)


def pattern(width, height):
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return np.stack([(7 * x + 13 * y + 59 * c + x * y // 31) % 256 for c in range(3)]).astype(np.float64)


def photo(path, left, top, width, height):
    crop = Image.open(path).convert("RGB").crop((left, top, left + width, top + height))
    return np.asarray(crop, np.float64).transpose(2, 0, 1)


def network(path):
    spec = Model_pb2.Model()
    spec.ParseFromString(path.read_bytes())
    kind = spec.WhichOneof("Type")
    nn = getattr(spec, kind)
    image = spec.description.input[0]
    size = image.type.imageType
    part = PHOTOS.get(path.stem)
    pixels = pattern(size.width, size.height)
    if part:
        pixels = photo(path.parent.parent / part["file"], part["left"], part["top"], size.width, size.height)
    bgr = size.colorSpace == 30
    if bgr:
        pixels = pixels[::-1]
    for step in nn.preprocessing:
        assert step.HasField("scaler")
        bias = [step.scaler.blueBias, step.scaler.greenBias, step.scaler.redBias]
        pixels = step.scaler.channelScale * pixels + np.array(bias if bgr else bias[::-1]).reshape(3, 1, 1)
    blobs = {image.name: torch.from_numpy(np.ascontiguousarray(pixels))[None]}
    for layer in nn.layers:
        blobs[layer.output[0]] = evaluate(layer, [blobs[name] for name in layer.input])
    result = {"input": image.name, "width": size.width, "height": size.height, "photo": part}
    if kind == "neuralNetworkClassifier":
        name = nn.labelProbabilityLayerName or spec.description.predictedProbabilitiesName
        best = {}
        for label, value in zip(nn.stringClassLabels.vector, blobs[name].flatten().tolist(), strict=True):
            best[label] = max(value, best.get(label, 0))
        ranked = sorted(best.items(), key=lambda pair: -pair[1])[:20]
        result["probabilities"] = {"name": spec.description.predictedProbabilitiesName, "values": dict(ranked)}
        result["label"] = {"name": spec.description.predictedFeatureName, "value": ranked[0][0]}
    else:
        result["arrays"] = {}
        for output in spec.description.output:
            values = blobs[output.name].numpy().flatten()
            places = np.linspace(0, len(values) - 1, SAMPLES).astype(int)
            result["arrays"][output.name] = {
                "shape": list(output.type.multiArrayType.shape), "indices": places.tolist(),
                "values": [float(np.float32(value)) for value in values[places]],
                "sum": float(values.astype(np.float64).sum()), "largest": float(np.abs(values).max())}
    return result


def boston(path):
    spec = Model_pb2.Model()
    spec.ParseFromString(path.read_bytes())
    vectorizer, regressor = spec.pipelineRegressor.pipeline.models
    columns = [column.inputColumn for column in vectorizer.featureVectorizer.inputList]
    values = {name: round(0.37 * (index + 1) ** 1.5, 3) for index, name in enumerate(columns)}
    weights = np.array(regressor.glmRegressor.weights[0].value)
    result = weights @ np.array([values[name] for name in columns]) + regressor.glmRegressor.offset[0]
    return {"numbers": values, "result": {"name": spec.description.predictedFeatureName, "value": float(result)}}


def main():
    models = pathlib.Path(sys.argv[1]) / "models"
    results = {name: network(models / f"{name}.mlmodel") for name in NETWORKS}
    results["boston_linear"] = boston(models / "boston_linear.mlmodel")
    (HERE / "models.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
