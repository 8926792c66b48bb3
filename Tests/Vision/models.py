"""Writes this folder's models: segmenter.mlpackage, wide_segmenter.mlpackage, wide_detector.mlpackage, detector.mlmodel,
thresholds.mlmodel, flexible.mlmodel and flexible_segmenter.mlmodel (coremltools), segmenter.onnx, segmenter_forms.onnx
and means.onnx (onnx).

coremltools and onnx want different versions of protobuf: run it once in an environment of each; what is not installed is
left as it is. scene.py says what the models compute.

    coremltools: python models.py coreml          onnx: python models.py onnx
"""

import json
import pathlib
import shutil
import sys

import numpy as np

import scene

HERE = pathlib.Path(__file__).parent


def onnx_segmenters():
    """A plain tensor of pixels in 0...1, and a score for each class; the second model has every form of the same answer."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    w, b = scene.weights()
    columns, rows = scene.SEGMENTER
    constants = [numpy_helper.from_array(w.reshape(4, 3, 1, 1), "w"), numpy_helper.from_array(b, "b")]
    differences = [numpy_helper.from_array((w[1:2] - w[:1]).reshape(1, 3, 1, 1), "v"),
                   numpy_helper.from_array(b[1:2] - b[:1], "a")]
    score = helper.make_node("Conv", ["pixels", "w", "b"], ["scores"], name="nearest")
    forms = [score,
             helper.make_node("Transpose", ["scores"], ["channels_last"], perm=[0, 2, 3, 1]),
             helper.make_node("ArgMax", ["scores"], ["decided"], axis=1, keepdims=0),
             helper.make_node("Conv", ["pixels", "v", "a"], ["red_or_not"]),
             helper.make_node("Sigmoid", ["red_or_not"], ["red"])]
    outputs = {"scores": [1, 4, rows, columns], "channels_last": [1, rows, columns, 4], "decided": [1, rows, columns],
               "red_or_not": [1, 1, rows, columns], "red": [1, 1, rows, columns]}
    for name, nodes, names, values in (("segmenter", [score], ["scores"], constants),
                                       ("segmenter_forms", forms, list(outputs), constants + differences)):
        graph = helper.make_graph(
            nodes, name, [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [1, 3, rows, columns])],
            [helper.make_tensor_value_info(output, TensorProto.INT64 if output == "decided" else TensorProto.FLOAT,
                                           outputs[output]) for output in names], values)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="")
        onnx.checker.check_model(model)
        onnx.save(model, HERE / f"{name}.onnx")


def onnx_means():
    """The mean of each colour in each quarter of the image, and by the whole's which of red, green and blue it is."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes = [helper.make_node("AveragePool", ["pixels"], ["quarters"], kernel_shape=[8, 8], strides=[8, 8]),
             helper.make_node("Flatten", ["quarters"], ["embedding"]),
             helper.make_node("GlobalAveragePool", ["pixels"], ["whole"]),
             helper.make_node("Flatten", ["whole"], ["means"]),
             helper.make_node("Mul", ["means", "sharpness"], ["scores"]),
             helper.make_node("Softmax", ["scores"], ["probabilities"], axis=1)]
    graph = helper.make_graph(
        nodes, "means", [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 3]),
         helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, 12])],
        [numpy_helper.from_array(np.array([8], np.float32), "sharpness")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="")
    onnx.checker.check_model(model)
    onnx.save(model, HERE / "means.onnx")


def coreml_segmenter():
    """An image, and the class of each place; labels and colours in the metadata that Core ML's previews read."""
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import types

    w, b = scene.weights()
    columns, rows = scene.SEGMENTER

    @mb.program(input_specs=[mb.TensorSpec((1, 3, rows, columns), types.fp32)], opset_version=ct.target.iOS15)
    def program(image):
        scores = mb.conv(x=image, weight=w.reshape(4, 3, 1, 1), bias=b, pad_type="valid")
        classes = mb.reduce_argmax(x=scores, axis=1, keep_dims=False)
        return mb.squeeze(x=classes, axes=[0], name="classes")

    model = ct.convert(
        program, convert_to="mlprogram", compute_precision=ct.precision.FLOAT32, minimum_deployment_target=ct.target.iOS15,
        inputs=[ct.ImageType(name="image", shape=(1, 3, rows, columns), scale=1 / 255, color_layout=ct.colorlayout.RGB)])
    model.user_defined_metadata["com.apple.coreml.model.preview.type"] = "imageSegmenter"
    model.user_defined_metadata["com.apple.coreml.model.preview.params"] = json.dumps(
        {"labels": scene.LABELS, "colors": scene.COLORS})
    path = HERE / "segmenter.mlpackage"
    shutil.rmtree(path, ignore_errors=True)
    model.save(str(path))


def wide(mb, x, w, b):
    """Channels of x by w and b, through two products with orthogonal matrices: 2,304 weights that a smaller form changes."""
    random = np.random.default_rng(51)
    size = 48
    first, second = (np.linalg.qr(random.normal(size=(size, size)))[0] for _ in range(2))
    x = mb.conv(x=x, weight=first[:, :3].reshape(size, 3, 1, 1).astype(np.float32), pad_type="valid")
    x = mb.conv(x=x, weight=second.reshape(size, size, 1, 1).astype(np.float32), pad_type="valid", name="wide")
    last = w @ first[:, :3].T @ second.T
    return mb.conv(x=x, weight=last.reshape(len(w), size, 1, 1).astype(np.float32), bias=b, pad_type="valid")


def coreml_wide():
    """The segmenter, and the detector without suppression, with weights that `kelvin compress` makes smaller."""
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb

    def save(program, name, side):
        model = ct.convert(
            program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS16,
            inputs=[ct.ImageType(name="image", shape=(1, 3, *side[::-1]), scale=1 / 255, color_layout=ct.colorlayout.RGB)])
        if name == "wide_segmenter":
            model.user_defined_metadata["com.apple.coreml.model.preview.type"] = "imageSegmenter"
            model.user_defined_metadata["com.apple.coreml.model.preview.params"] = json.dumps(
                {"labels": scene.LABELS, "colors": scene.COLORS})
        path = HERE / f"{name}.mlpackage"
        shutil.rmtree(path, ignore_errors=True)
        model.save(str(path))

    @mb.program(input_specs=[mb.TensorSpec((1, 3, *scene.SEGMENTER[::-1]))], opset_version=ct.target.iOS16)
    def segmenter(image):
        w, b = scene.weights()
        classes = mb.reduce_argmax(x=wide(mb, image, w, b), axis=1, keep_dims=False)
        return mb.squeeze(x=classes, axes=[0], name="classes")

    @mb.program(input_specs=[mb.TensorSpec((1, 3, *scene.DETECTOR[::-1]))], opset_version=ct.target.iOS16)
    def detector(image):
        means = mb.avg_pool(x=image, kernel_sizes=[8, 8], strides=[8, 8], pad_type="valid")
        scores = mb.reshape(x=wide(mb, means, np.eye(3), np.zeros(3, np.float32)), shape=[1, 3, 16])
        boxes = (scene.anchors() * 32).T[None].astype(np.float32)
        return mb.concat(values=[boxes, scores], axis=1, name="objects")

    save(segmenter, "wide_segmenter", scene.SEGMENTER)
    save(detector, "wide_detector", scene.DETECTOR)


def coreml_detector():
    """A network that scores cells, and non-maximum suppression behind it in a pipeline."""
    import coremltools as ct
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder
    from coremltools.proto import Model_pb2

    columns, rows = scene.DETECTOR
    boxes = scene.anchors()
    builder = NeuralNetworkBuilder(
        [("image", datatypes.Array(3, rows, columns))],
        [("raw_confidence", datatypes.Array(16, 3)), ("raw_coordinates", datatypes.Array(16, 4))],
        disable_rank5_shape_mapping=True)
    builder.add_pooling("cells", 8, 8, 8, 8, "AVERAGE", "VALID", "image", "means")
    builder.add_transpose("order", [0, 2, 3, 1], "means", "ordered")
    builder.add_reshape_static("rows", "ordered", "raw_confidence", [16, 3])
    builder.add_load_constant_nd("anchors", "raw_coordinates", boxes, boxes.shape)
    builder.set_pre_processing_parameters(image_input_names=["image"], is_bgr=False, image_scale=1 / 255)
    network = builder.spec
    network.neuralNetwork.imageInputShapeMapping = 1

    def array(feature, name, shape):
        feature.name = name
        feature.type.multiArrayType.dataType = 65568  # float32
        feature.type.multiArrayType.shape.extend(shape)

    nms = Model_pb2.Model(specificationVersion=3)
    array(nms.description.input.add(), "raw_confidence", [16, 3])
    array(nms.description.input.add(), "raw_coordinates", [16, 4])
    suppression = nms.nonMaximumSuppression
    suppression.confidenceInputFeatureName, suppression.coordinatesInputFeatureName = "raw_confidence", "raw_coordinates"
    suppression.confidenceOutputFeatureName, suppression.coordinatesOutputFeatureName = "confidence", "coordinates"
    suppression.iouThresholdInputFeatureName = "iouThreshold"
    suppression.confidenceThresholdInputFeatureName = "confidenceThreshold"
    suppression.iouThreshold, suppression.confidenceThreshold = scene.IOU_THRESHOLD, scene.CONFIDENCE_THRESHOLD
    suppression.stringClassLabels.vector.extend(scene.OBJECTS)
    suppression.pickTop.perClass = False
    pipeline = Model_pb2.Model(specificationVersion=4)
    pipeline.pipeline.models.add().CopyFrom(network)
    stage = pipeline.pipeline.models.add()
    image = pipeline.description.input.add()
    image.CopyFrom(network.description.input[0])
    for name in ("iouThreshold", "confidenceThreshold"):
        for description in (nms.description, pipeline.description):
            feature = description.input.add()
            feature.name = name
            feature.type.doubleType.SetInParent()
            feature.type.isOptional = True
    for description in (nms.description, pipeline.description):
        for name, size in (("confidence", 3), ("coordinates", 4)):
            feature = description.output.add()
            feature.name = name
            feature.type.multiArrayType.dataType = 65568
            ranges = feature.type.multiArrayType.shapeRange.sizeRanges
            ranges.add(lowerBound=0, upperBound=-1)
            ranges.add(lowerBound=size, upperBound=size)
    stage.CopyFrom(nms)
    pipeline.pipeline.names.extend(["network", "suppression"])
    ct.utils.save_spec(pipeline, str(HERE / "detector.mlmodel"))


def coreml_classifier():
    """How red, green and blue an image is, and behind it in a pipeline what precision and recall that has."""
    import coremltools as ct
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder
    from coremltools.proto import Model_pb2

    builder = NeuralNetworkBuilder(
        [("image", datatypes.Array(3, 8, 8))], [("shares", datatypes.Array(3))], mode="classifier")
    builder.add_pooling("means", 8, 8, 8, 8, "AVERAGE", "VALID", "image", "means")
    builder.add_softmax("shares", "means", "shares")
    builder.set_class_labels(["red", "green", "blue"], prediction_blob="shares")
    builder.set_pre_processing_parameters(image_input_names=["image"], is_bgr=False, image_scale=1 / 64)
    network = builder.spec
    thresholds = Model_pb2.Model(specificationVersion=3)
    for precision, recall in scene.CURVES:
        curve = thresholds.classConfidenceThresholding.precisionRecallCurves.add()
        for points, values, at in ((precision, curve.precisionValues, curve.precisionConfidenceThresholds),
                                   (recall, curve.recallValues, curve.recallConfidenceThresholds)):
            at.vector.extend(threshold for threshold, _ in points)
            values.vector.extend(value for _, value in points)
    for feature in network.description.output:
        thresholds.description.input.add().CopyFrom(feature)
        thresholds.description.output.add().CopyFrom(feature)
    pipeline = Model_pb2.Model(specificationVersion=3)
    pipeline.description.CopyFrom(network.description)
    stages = pipeline.pipelineClassifier.pipeline
    stages.models.add().CopyFrom(network)
    stages.models.add().CopyFrom(thresholds)
    stages.names.extend(["network", "thresholds"])
    ct.utils.save_spec(pipeline, str(HERE / "thresholds.mlmodel"))


def coreml_flexible():
    """A classifier of images of 32, 48 or 64 pixels, by which of red, green and blue they have most of. Its time follows from
    the size: it computes the means from 32 maps."""
    import coremltools as ct
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder, flexible_shape_utils

    maps = 32
    # Each map is one colour, and the second convolution adds the maps of a colour again.
    first = np.zeros((3, 3, 3, maps), np.float32)
    second = np.zeros((3, 3, maps, 3), np.float32)
    for index in range(maps):
        first[1, 1, index % 3, index] = 1
        second[1, 1, index, index % 3] = 1 / (maps // 3 + (index % 3 < maps % 3))
    builder = NeuralNetworkBuilder(
        [("image", datatypes.Array(3, 64, 64))], [("shares", datatypes.Array(3))], mode="classifier")
    builder.add_convolution("spread", 3, maps, 3, 3, 1, 1, "same", 1, first, None, False, input_name="image", output_name="maps")
    builder.add_convolution("gather", maps, 3, 3, 3, 1, 1, "same", 1, second, None, False, input_name="maps", output_name="sums")
    builder.add_pooling("means", 1, 1, 1, 1, "AVERAGE", "VALID", "sums", "means", is_global=True)
    builder.add_softmax("shares", "means", "shares")
    builder.set_class_labels(["red", "green", "blue"], prediction_blob="shares")
    builder.set_pre_processing_parameters(image_input_names=["image"], is_bgr=False, image_scale=1 / 64)
    sizes = [flexible_shape_utils.NeuralNetworkImageSize(side, side) for side in (32, 48)]
    flexible_shape_utils.add_enumerated_image_sizes(builder.spec, "image", sizes=sizes)
    ct.utils.save_spec(builder.spec, str(HERE / "flexible.mlmodel"))


def coreml_flexible_segmenter():
    """The largest of red, green and blue in each pixel of images of 32, 48 or 64 pixels."""
    import coremltools as ct
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder, flexible_shape_utils

    builder = NeuralNetworkBuilder([("image", datatypes.Array(3, 64, 64))], [("scores", datatypes.Array(3, 64, 64))])
    builder.add_scale("scores", np.ones(1, np.float32), None, False, "image", "scores", shape_scale=[1])
    builder.set_pre_processing_parameters(image_input_names=["image"], is_bgr=False)
    sizes = [flexible_shape_utils.NeuralNetworkImageSize(side, side) for side in (32, 48)]
    flexible_shape_utils.add_enumerated_image_sizes(builder.spec, "image", sizes=sizes)
    ct.utils.save_spec(builder.spec, str(HERE / "flexible_segmenter.mlmodel"))


if __name__ == "__main__":
    if "onnx" in sys.argv:
        onnx_segmenters()
        onnx_means()
    if "coreml" in sys.argv:
        coreml_segmenter()
        coreml_wide()
        coreml_detector()
        coreml_classifier()
        coreml_flexible()
        coreml_flexible_segmenter()
