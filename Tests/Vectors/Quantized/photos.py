"""Writes `mobilenetv2_photos.kv`: logits of the quantized MobileNet for the photos of a folder of shared files.

    python photos.py ../../../../shared

ONNX Runtime leaves some of the model's convolutions between quantization nodes in float32. So that every product is an exact
integer, the model is first written in the integer operators (QLinearConv, QLinearAdd, QLinearGlobalAveragePool), each from the
nodes it stands for; the clips that remain are those that the 8-bit range does not imply already.
"""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import kv  # noqa: E402  (of the directory above)


def in_integers(model):
    """The model in integer operators, its output the quantized logits' real values."""
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    producers = {name: node for node in graph.node for name in node.output}
    nodes = []
    for node in graph.node:
        if node.op_type != "QuantizeLinear" or node.input[0] not in producers:
            continue
        core = producers[node.input[0]]
        scale, zero = float(constants[node.input[1]]), int(constants[node.input[2]])
        if core.op_type == "Clip":
            lower, upper = (float(constants[name]) for name in core.input[1:])
            if round(lower / scale) + zero > -128 or round(upper / scale) + zero < 127:
                raise ValueError(f"{core.name} narrows the range of its result")
            core = producers[core.input[0]]
        sources = [producers[name] for name in core.input]
        quantized = [name for source in sources[:2] for name in source.input]
        attributes = {item.name: helper.get_attribute_value(item) for item in core.attribute}
        if core.op_type == "Conv":
            inputs = [*quantized, *node.input[1:], *[source.input[0] for source in sources[2:]]]
            nodes.append(helper.make_node("QLinearConv", inputs, node.output, **attributes))
        elif core.op_type == "Add":
            nodes.append(helper.make_node("QLinearAdd", [*quantized, *node.input[1:]], node.output,
                                          domain="com.microsoft"))
        elif core.op_type == "GlobalAveragePool":
            nodes.append(helper.make_node("QLinearGlobalAveragePool", [*quantized, *node.input[1:]], node.output,
                                          domain="com.microsoft", channels_last=0))
        else:
            raise ValueError(f"{core.op_type} is not expected")
    first = next(node for node in graph.node if node.op_type == "QuantizeLinear" and node.input[0] not in producers)
    last = producers[next(node for node in graph.node if node.op_type == "Flatten").input[0]]
    tail = helper.make_node("DequantizeLinear", last.input, ["real"])
    flat = helper.make_node("Flatten", ["real"], ["logits"])
    output = helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, None)
    integer = helper.make_graph([first, *nodes, tail, flat], "integers", graph.input, [output], graph.initializer)
    return helper.make_model(integer, ir_version=model.ir_version, opset_imports=[
        *model.opset_import, helper.make_opsetid("com.microsoft", 1)])


def main(shared):
    model = onnx.load(shared / "models/MobileNetV2_int8_qdq.onnx")
    original = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    session = onnxruntime.InferenceSession(in_integers(model).SerializeToString(), providers=["CPUExecutionProvider"])
    logits = []
    for path in sorted((shared / "expected").glob("mobilenetv2_*_input.npy")):
        photo = path.name.removeprefix("mobilenetv2_").removesuffix("_input.npy")
        image = np.load(path).astype(np.float32).reshape(1, 3, 224, 224)
        exact = session.run(["logits"], {"image": image})[0]
        mixed = original.run(["logits"], {"image": image})[0]
        print(f"{photo}: class {exact.argmax()}, as the original {exact.argmax() == mixed.argmax()}, "
              f"which differs by at most {np.abs(exact - mixed).max():.3f}")
        logits.append((photo, exact))
    header = {"case": "mobilenetv2_photos", "integers": [], "tolerance": {"absolute": 0.0, "relative": 0}}
    (HERE / "mobilenetv2_photos.kv").write_bytes(kv.encode(header, [], logits))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
