"""The layers of a model as `kelvin profile` measures and describes them: their shapes, operations, bytes and seconds."""

import json
import math
import os
import re
import statistics
import tempfile
from dataclasses import dataclass

from contenders import ContenderFailed, run

SIZES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "int8": 1, "uint8": 1, "bool": 1}
OPERAND = re.compile(r"(const )?(\w+)\[([\dx]*)\]")
# Operators that read only the elements that they return.
PICKING = ("gather", "slice")
ATTRIBUTE = re.compile(r"(\w+)=(\[[^\]]*\]|[^\s(]+(?:\([^)]*\))?)")


@dataclass(frozen=True)
class Operand:
    isWeight: bool
    type: str
    shape: tuple

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def bytes(self):
        return self.elements * SIZES[self.type]

    def __str__(self):
        return "x".join(map(str, self.shape)) or "1"


@dataclass(frozen=True)
class Layer:
    """`signature` is the layer's computation, `operations` and `bytes` are Kelvin's count, `outputBytes` those of
    its results, and `age` the bytes that other layers moved since the oldest of its inputs was made."""

    name: str
    signature: str
    operations: float
    bytes: int
    outputBytes: int
    age: int
    seconds: float

    @property
    def operator(self):
        return self.signature.partition(" ")[0].partition("(")[0]

    @property
    def attributes(self):
        return dict(ATTRIBUTE.findall(self.signature[:self.signature.rfind("(")]))

    @property
    def operands(self):
        return [Operand(bool(constant), kind, tuple(int(side) for side in shape.split("x") if side))
                for constant, kind, shape in OPERAND.findall(self.signature[self.signature.rfind("("):])]

    @property
    def weightBytes(self):
        return min(self.bytes, sum(operand.bytes for operand in self.operands if operand.isWeight))

    @property
    def activationBytes(self):
        """The bytes of inputs and outputs, once each."""
        moved = self.bytes - self.weightBytes
        return min(moved, 2 * self.outputBytes) if self.operator in PICKING else moved

    @property
    def terms(self):
        """The average number of products in the sum of each output; None if the layer has no products."""
        operands = self.operands
        outputs = self.outputBytes / SIZES[operands[0].type] if operands else 0
        if self.operator == "convolution":
            return operands[1].elements / operands[1].shape[0]
        if self.operator == "convolution_transpose":
            return operands[0].elements * operands[1].elements / operands[1].shape[0] / outputs
        if self.operator == "linear":
            return operands[0].shape[-1]
        if self.operator == "attention":
            count = {key: int(value) for key, value in self.attributes.items() if value.isdigit()}
            products = count["queries"] * count["keys"] * (count["width"] + count["value_width"])
            return count["batch"] * count["heads"] * products / outputs
        return None

    @property
    def definedOperations(self):
        """The operations by the layer's definition, two for each product, whatever the kernel does; Kelvin's count
        if the layer has no products."""
        if self.terms is None:
            return self.operations
        return 2 * self.terms * self.outputBytes / SIZES[self.operands[0].type]

    @property
    def title(self):
        """The layer's operator in a few words, with the operators fused into it."""
        about = self.attributes
        words = [about["function"] if self.operator in ("binary", "unary", "reduce") else self.operator.replace("_", " ")]
        if "kernel" in about:
            words.append("x".join(about["kernel"].strip("[]").split(",")))
        if about.get("groups") and self.operator == "convolution" and self.operands[1].shape[1] == 1:
            words.insert(0, "depthwise")
        if about.get("strides", "[1,1]") != "[1,1]" and about["strides"] != about.get("kernel"):
            words.append("stride " + "x".join(about["strides"].strip("[]").split(",")))
        words += ["+ add"] * (about.get("residual") == "true")
        words += [f"+ {about['activation'].partition('(')[0]}"] if "activation" in about else []
        return " ".join(words)

    @property
    def shapes(self):
        """The shapes of the layer's operands, without biases and other vectors if there is a larger operand."""
        operands = self.operands
        most = max((len(operand.shape) for operand in operands), default=0)
        return ", ".join(str(operand) for operand in operands if len(operand.shape) > 1 or most < 2)


@dataclass(frozen=True)
class Profile:
    """`account` is the breakdown of the seconds of a whole inference while layers were timed, `whole` the seconds of
    interleaved inferences without timers, `elsewhere` the number of layers that ran on another device, and `packed`
    the bytes of the packed weights."""

    layers: list
    account: dict
    whole: float
    elsewhere: int
    packed: int


def profiled(kelvin, budget, usesCache=False):
    """Runs `kelvin profile` on the contender's device alone, and returns the layers in the network's order. It
    starts without caches, unless it is to use the user's cache with the kernels that were measured to be the
    fastest.

    Kelvin adds a fitted, constant time to each layer for handing it to the device; it is subtracted again.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "profile.json")
        alone = [] if kelvin.units == "cpu" else ["--exclude", "cpu"]
        cache = [] if usesCache else ["--cache-dir", os.path.join(folder, "cache")]
        command = [kelvin.binary, "profile", kelvin.model, "--budget", str(budget), "--save", file, *alone, *cache,
                   *kelvin.options()]
        answer = json.loads(run(command, kelvin.processors, kelvin.environment))
        with open(file) as saved:
            profile = json.load(saved)
    graphs = list(profile["models"].values())
    device = next((each for each in answer["devices"] if each["id"] == kelvin.units), None)
    if len(graphs) != 1 or len(answer["devices"]) != 1 or device is None:
        raise ContenderFailed(f"expected the profile of one graph on {kelvin.units}, got {len(graphs)} on "
                              f"{', '.join(each['id'] for each in answer['devices'])}")
    handing = answer["dispatch"].get(kelvin.units, 0)
    seconds = {node["name"]: node["costs"][0]["seconds"] - handing for node in answer["nodes"] if node["costs"]}
    whole = next((each["measured"] for each in answer["checks"] if each["plan"] == kelvin.units), None)
    if whole is None:
        raise ContenderFailed(f"expected an inference on {kelvin.units} without timers among the checks")
    packed = sum(each["bytes"] for each in device["weights"]["packed"] if each["device"] == kelvin.units)
    return Profile(list(described(graphs[0]["nodes"], profile["work"], seconds)), device["account"], whole,
                   device["nodesElsewhere"], packed)


def described(nodes, works, seconds):
    """Returns the layers of a graph, in its order."""
    moved, made = 0, {}
    for node in nodes:
        # A key ends with the precision and the number of threads.
        signature, work = node["key"].rsplit(" ", 2)[0], works.get(node["key"], {})
        age = max((moved - made[value] for value in node["inputs"] if value in made), default=0)
        layer = Layer(node["name"], signature, work.get("operations", 0), work.get("bytes", 0),
                      sum(value["bytes"] for value in node["outputs"]), age, max(0.0, seconds.get(node["name"], 0.0)))
        moved += layer.bytes
        made |= {value["value"]: moved for value in node["outputs"]}
        yield layer


def merged(rounds):
    """Returns the layers with the medians over the rounds."""
    return [Layer(**vars(same[0]) | {"seconds": statistics.median(layer.seconds for layer in same)})
            for same in zip(*rounds)]


def operations(kelvin):
    """Returns the operations of one inference, by the definitions of its layers."""
    return sum(each.definedOperations for each in profiled(kelvin, 0.01).layers)
