"""PyTorch with CUDA on the same card: networks node by node as their ONNX files have them, and single products.

Usage: peer_torch.py networks '{"NAME": ["MODEL.onnx", "FOLDER"], …}' ROUND
       peer_torch.py products '[[ROWS, DEPTH, COLUMNS, SIDE], …]'

Networks are run eagerly and as one CUDA graph, in float32 (without TF32) and in float16; images are channels-last in float16.
Values that follow from shapes are computed once. Attention is not fused. A time has the input's upload and the outputs'
download in it. Products are timed by the device's clock, 20 in a CUDA graph. Figures go to the results of card.py.
"""

import json
import statistics
import sys
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

import timing
from card import put, say

ENOUGH, WARM_UPS, REPEATS = 0.4, 5, 20


def pads(torch, x, about, fill=0.0):
    """Returns x padded as ONNX says, for operators that pad by equal amounts on both sides only."""
    before_and_after = about.get("pads", [0, 0, 0, 0])
    top, left, bottom, right = before_and_after
    if (top, left) == (bottom, right):
        return x, (top, left)
    return torch.nn.functional.pad(x, (left, right, top, bottom), value=fill), (0, 0)


def convolution(torch, about, x, weights, bias=None):
    x, padding = pads(torch, x, about)
    return torch.nn.functional.conv2d(x, weights, bias, about.get("strides", 1), padding, about.get("dilations", 1),
                                      about.get("group", 1))


def transposed(torch, about, x, weights, bias=None):
    return torch.nn.functional.conv_transpose2d(x, weights, bias, about.get("strides", 1))


def pooled(torch, about, x):
    x, padding = pads(torch, x, about, float("-inf"))
    return torch.nn.functional.max_pool2d(x, about["kernel_shape"], about.get("strides", 1), padding,
                                          ceil_mode=bool(about.get("ceil_mode", 0)))


def product(torch, about, x, weights, bias=None):
    weights = weights.T if about.get("transB") else weights
    return torch.addmm(bias, x, weights) if bias is not None else x @ weights


def normalized(torch, about, x, scale, bias=None):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, bias, about.get("epsilon", 1e-5))


# Operators on tensors of the device; sizes and axes are whole numbers by then.
OPERATORS = {
    "Conv": convolution, "ConvTranspose": transposed, "MaxPool": pooled, "Gemm": product, "LayerNormalization": normalized,
    "Relu": lambda torch, about, x: x.relu(), "Erf": lambda torch, about, x: x.erf(),
    "Sigmoid": lambda torch, about, x: x.sigmoid(), "Sqrt": lambda torch, about, x: x.sqrt(),
    "Clip": lambda torch, about, x, low, high: x.clamp(float(low), float(high)),
    "Add": lambda torch, about, x, y: x + y, "Sub": lambda torch, about, x, y: x - y,
    "Mul": lambda torch, about, x, y: x * y, "Div": lambda torch, about, x, y: x / y,
    "MatMul": lambda torch, about, x, y: x @ y,
    "Softmax": lambda torch, about, x: x.softmax(about.get("axis", -1)),
    "GlobalAveragePool": lambda torch, about, x: x.mean((2, 3), keepdim=True),
    "Flatten": lambda torch, about, x: x.flatten(about.get("axis", 1)),
    "Concat": lambda torch, about, *parts: torch.cat(parts, about["axis"]),
    "Transpose": lambda torch, about, x: x.permute(about["perm"]),
    "Reshape": lambda torch, about, x, sizes: x.reshape([x.shape[i] if size == 0 else int(size) for i, size in enumerate(sizes)]),
    "Expand": lambda torch, about, x, sizes: x.expand([int(size) if size != 1 else -1 for size in sizes]),
    "Unsqueeze": lambda torch, about, x, axes: unsqueezed(x, axes),
    "Squeeze": lambda torch, about, x, axes: x.squeeze(tuple(map(int, axes))),
    "Gather": lambda torch, about, x, places: gathered(torch, about.get("axis", 0), x, places),
    "Cast": lambda torch, about, x: x.to(torch.get_default_dtype()),
}
# Operators on values that follow from shapes, in NumPy.
SIZES = {
    "Gather": lambda about, x, places: np.take(x, places, about.get("axis", 0)),
    "Concat": lambda about, *parts: np.concatenate(parts, about["axis"]),
    "Unsqueeze": lambda about, x, axes: np.expand_dims(x, tuple(int(axis) for axis in axes)),
    "Squeeze": lambda about, x, axes: np.squeeze(x, tuple(int(axis) for axis in axes)),
    "Range": lambda about, *ends: np.arange(*(int(end) for end in ends)),
    "Cast": lambda about, x: np.asarray(x, helper.tensor_dtype_to_np_dtype(about["to"])),
    "Slice": lambda about, x, first, last, *others: x[int(first[0]):int(last[0])],
    "Sqrt": lambda about, x: np.sqrt(x), "Add": lambda about, x, y: x + y, "Sub": lambda about, x, y: x - y,
    "Mul": lambda about, x, y: x * y, "Div": lambda about, x, y: x / y,
}


def unsqueezed(x, axes):
    for axis in sorted(int(axis) for axis in axes):
        x = x.unsqueeze(axis)
    return x


def gathered(torch, axis, x, places):
    if isinstance(places, np.ndarray) and places.ndim == 0:
        return x.select(axis, int(places))
    places = torch.as_tensor(places, device=x.device)
    return x.index_select(axis, places.flatten()).reshape(*x.shape[:axis], *places.shape, *x.shape[axis + 1:])


class TorchNetwork:
    """An ONNX graph as a list of calls. Sizes are computed while the list is made, for one set of inputs."""

    def __init__(self, torch, path, inputs, type):
        graph = onnx.load(path).graph
        self.torch, self.type, self.calls = torch, type, []
        torch.set_default_dtype(type)
        self.outputs = [value.name for value in graph.output]
        # Every constant stays in NumPy until an operator of the device needs it.
        self.values = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        self.inputs = {name: self.placed(values) for name, values in inputs.items()}
        self.values |= self.inputs
        self.placedConstants = {}
        for node in graph.node:
            self.add(node)

    def placed(self, values):
        found = self.torch.as_tensor(np.array(values)).cuda()
        found = found.to(self.type) if found.is_floating_point() else found
        isImage = found.dim() == 4 and self.type == self.torch.float16
        return found.contiguous(memory_format=self.torch.channels_last) if isImage else found

    def add(self, node):
        about = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        names, output = [name for name in node.input if name], node.output[0]
        given = [self.values[name] for name in names]
        if node.op_type == "Shape":
            self.values[output] = np.array(given[0].shape)
        elif all(isinstance(each, np.ndarray) or np.isscalar(each) for each in given) and node.op_type in SIZES:
            self.values[output] = np.asarray(SIZES[node.op_type](about, *given))
        elif node.op_type in OPERATORS:
            # Sizes, axes and limits stay whole numbers; weights and other operands go to the device.
            staying = {"Reshape", "Expand", "Unsqueeze", "Squeeze", "Clip"}
            for place, name in enumerate(names):
                isOperand = isinstance(given[place], np.ndarray) and not (place > 0 and node.op_type in staying)
                if isOperand and not (node.op_type == "Gather" and place == 1 and given[place].ndim == 0):
                    if name not in self.placedConstants:
                        self.placedConstants[name] = self.placed(given[place])
                    given[place] = self.placedConstants[name]
            constants = [None if name in self.made() else value for name, value in zip(names, given)]
            call = (OPERATORS[node.op_type], about, names, constants, output)
            self.calls.append(call)
            self.values[output] = self.called(call, self.values)
        else:
            raise ValueError(f"{node.op_type} '{node.name}' is not among the operators of peer_torch.py")

    def made(self):
        return {call[4] for call in self.calls} | set(self.inputs)

    def called(self, call, values):
        operator, about, names, constants, _ = call
        return operator(self.torch, about, *(values[name] if constant is None else constant
                                             for name, constant in zip(names, constants)))

    def run(self, inputs):
        values = dict(inputs)
        for call in self.calls:
            values[call[4]] = self.called(call, values)
        return [values[name] for name in self.outputs]

    def captured(self):
        """Returns a function that replays the network as one CUDA graph."""
        torch, stream = self.torch, self.torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                self.run(self.inputs)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = self.run(self.inputs)

        def replay(inputs):
            for name, values in inputs.items():
                self.inputs[name].copy_(values)
            graph.replay()
            return outputs
        return replay


def seconds(torch, infer, inputs, uploads):
    """Returns the median time of an inference, from host memory to host memory."""
    def once():
        given = inputs if uploads is None else {name: uploads(values) for name, values in inputs.items()}
        return [value.float().cpu() for value in infer(given)]
    for _ in range(WARM_UPS):
        once()
    found, begin = [], time.perf_counter()
    while time.perf_counter() - begin < ENOUGH:
        start = time.perf_counter()
        outputs = once()
        found.append(time.perf_counter() - start)
    return statistics.median(found), outputs


def networks(torch, paths, turn):
    for name, (path, folder) in paths.items():
        arrays = timing.inputs(folder)
        for type, title in ((torch.float32, "fp32"), (torch.float16, "fp16")):
            try:
                network = TorchNetwork(torch, path, arrays, type)
                pinned = {key: torch.as_tensor(values).to(network.inputs[key].dtype).pin_memory() for key, values in arrays.items()}
                uploads = network.placed if type == torch.float16 else lambda values: values.cuda(non_blocking=True)
                for way, infer, how in (("eager", network.run, uploads), ("CUDA graph", network.captured(), None)):
                    p50, outputs = seconds(torch, infer, pinned, how)
                    put(model=name, contender=f"PyTorch {way} {title}", round=turn, p50=p50,
                        first=float(outputs[0].flatten()[0]))
            except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
                say(f"PyTorch {title}, {name}: {error}")


def products(torch, sizes):
    for size in sizes:
        rows, depth, columns = size[:3]
        for title, type, allowed in (("fp32", torch.float32, False), ("TF32", torch.float32, True), ("fp16", torch.float16, False)):
            torch.backends.cuda.matmul.allow_tf32 = allowed
            x, y = torch.randn(rows, depth, device="cuda", dtype=type), torch.randn(depth, columns, device="cuda", dtype=type)
            for _ in range(WARM_UPS):
                x @ y
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(REPEATS):
                    torch.matmul(x, y)
            found = []
            for _ in range(WARM_UPS):
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                start.record()
                graph.replay()
                end.record()
                torch.cuda.synchronize()
                found.append(start.elapsed_time(end) / 1e3 / REPEATS)
            put(size=[rows, depth, columns], cublas=title, seconds=min(found))


def main():
    try:
        import torch
    except ImportError as error:
        say(f"PyTorch: {error}")
        return
    if not torch.cuda.is_available():
        say("PyTorch sees no CUDA device")
        return
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    with torch.inference_mode():
        if sys.argv[1] == "networks":
            networks(torch, json.loads(sys.argv[2]), int(sys.argv[3]))
        else:
            products(torch, json.loads(sys.argv[2]))


if __name__ == "__main__":
    main()
