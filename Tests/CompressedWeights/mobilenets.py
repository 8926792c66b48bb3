"""Writes the class scores of the compressed MobileNets in the shared models, computed by ONNX Runtime.

The program is translated operation by operation, its weights decompressed by coremltools; arithmetic is float32. Give the
folder of the shared files as the argument.
"""

import sys
from pathlib import Path

import coremltools as ct
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

folder = Path(__file__).parent
sys.path.insert(0, str(folder.parent / "Vectors"))

import kv  # noqa: E402

shared = Path(sys.argv[1])
PHOTOS = ["cat_720p", "grace_hopper", "hot_dog", "owl", "parrot", "pets"]


def translate(path):
    """The program's operations up to the class scores before the softmax, as an ONNX model of one input."""
    model = ct.models.MLModel(str(path), skip_model_load=True)
    program = ct.optimize.coreml.decompress_weights(model)._mil_program.functions["main"]
    (name, image), = program.inputs.items()
    constants, nodes = {}, []

    def operand(var):
        if var.op is not None and var.val is not None:
            constants[var.name] = np.asarray(var.val, dtype=np.float32)
        return var.name

    def add(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output.name], **attributes))

    scores = None
    for operation in program.operations:
        kind, inputs = operation.op_type, operation.inputs
        if kind in ("const", "classify"):
            continue
        y = operation.outputs[0]
        if kind == "cast":
            add("Identity", [operand(operation.x)], y)
        elif kind in ("add", "mul"):
            add(kind.capitalize(), [operand(operation.x), operand(operation.y)], y)
        elif kind == "relu6":
            constants["zero"], constants["six"] = np.float32(0), np.float32(6)
            add("Clip", [operand(operation.x), "zero", "six"], y)
        elif kind == "conv":
            before, after = [], []
            pad = list(operation.pad.val) if operation.pad is not None else [0] * 4
            before, after = pad[0::2], pad[1::2]
            kernel = list(operation.weight.shape[2:])
            strides = [int(value) for value in operation.strides.val]
            if operation.pad_type.val == "same":
                sizes = operation.x.shape[2:]
                total = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(sizes, strides, kernel)]
                before, after = [t // 2 for t in total], [t - t // 2 for t in total]
            elif operation.pad_type.val == "valid":
                before, after = [0, 0], [0, 0]
            else:
                assert operation.pad_type.val == "custom", operation.pad_type.val
            operands = [operand(operation.x), operand(operation.weight)]
            if operation.bias is not None:
                operands.append(operand(operation.bias))
            add("Conv", operands, y, strides=strides, pads=[int(v) for v in before + after],
                group=int(operation.groups.val), dilations=[int(v) for v in operation.dilations.val])
        elif kind == "reduce_mean":
            add("ReduceMean", [operand(operation.x)], y, axes=[int(v) for v in operation.axes.val],
                keepdims=int(bool(operation.keep_dims.val)))
        elif kind == "reshape":
            constants[y.name + "/shape"] = np.asarray(operation.shape.val, dtype=np.int64)
            add("Reshape", [operand(operation.x), y.name + "/shape"], y)
        elif kind == "softmax":
            scores = operation.x.name
            break
        else:
            raise ValueError(f"no translation of {kind}")
    graph = helper.make_graph(
        nodes, "translated", [helper.make_tensor_value_info(name, TensorProto.FLOAT, image.shape)],
        [helper.make_tensor_value_info(scores, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, key) for key, value in constants.items()])
    return name, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


for compression in ("int8", "pal6"):
    name, model = translate(shared / f"models/MobileNetV2_{compression}.mlpackage")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    results = []
    for photo in PHOTOS:
        normalized = np.load(shared / f"expected/mobilenetv2_{photo}_input.npy")
        pixels = np.round((normalized + 1) * 127.5).astype(np.float32)
        scores, = session.run(None, {name: pixels})
        results.append((photo, scores.reshape(-1).astype(np.float16)))
        print(compression, photo, int(np.argmax(scores)))
    name = f"mobilenetv2_{compression}"
    header = {"case": name, "tolerance": {"absolute": 0, "relative": 0}}
    (folder / f"{name}.kv").write_bytes(kv.encode(header, [], results))
