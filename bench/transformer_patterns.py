"""Finds linear layers, attention and Gaussian error linear units that an ONNX graph decomposes into nodes, and
replaces each by a node of this module's domain."""

import math

import numpy as np
from onnx import helper

DOMAIN = "kelvin.bench"
ROOT_TOLERANCE = 1e-6


class Patterns:
    """Nodes in the order of the graph, while some of them are replaced."""

    def __init__(self, nodes, constants):
        self.nodes = list(nodes)
        self.constants = constants

    def producer(self, name):
        return next((node for node in self.nodes if name in node.output), None)

    def consumers(self, name):
        return [node for node in self.nodes if name in node.input]

    def only_consumer(self, name, kind):
        found = self.consumers(name)
        return found[0] if len(found) == 1 and found[0].op_type == kind else None

    def operands(self, node):
        """Returns the computed input and the constant one; None for each if there is not exactly one."""
        constant = [name for name in node.input if name in self.constants]
        computed = [name for name in node.input if name not in self.constants]
        return computed[0] if len(computed) == 1 else None, self.constants[constant[0]] if len(constant) == 1 else None

    def chain(self, name):
        """The nodes that made a value, the latest first, along the computed operand of each."""
        node = self.producer(name)
        while node is not None:
            yield node
            name = next((each for each in node.input if each not in self.constants), None)
            node = self.producer(name)

    def replace(self, old, kind, inputs, output, **attributes):
        """Puts one node in the place of the last of the old ones."""
        place = max(index for index, node in enumerate(self.nodes) if any(node is each for each in old))
        self.nodes[place] = helper.make_node(kind, inputs, [output], name=output, domain=DOMAIN, **attributes)
        self.nodes = [node for node in self.nodes if not any(node is each for each in old)]

    def linear(self):
        """MatMul by a constant matrix and Add of a constant vector."""
        for product in [node for node in self.nodes if node.op_type == "MatMul"]:
            weights = self.constants.get(product.input[1])
            added = self.only_consumer(product.output[0], "Add")
            if weights is None or weights.ndim != 2 or added is None:
                continue
            bias = next((name for name in added.input if name in self.constants), None)
            if bias is not None and self.constants[bias].shape == (weights.shape[1],):
                self.replace([product, added], "Linear", [product.input[0], product.input[1], bias], added.output[0])

    def gelu(self):
        """x (erf(x / √2) + 1) / 2"""
        for error in [node for node in self.nodes if node.op_type == "Erf"]:
            divided = self.producer(error.input[0])
            plus = self.only_consumer(error.output[0], "Add")
            times = plus and self.only_consumer(plus.output[0], "Mul")
            halved = times and self.only_consumer(times.output[0], "Mul")
            if halved is None or divided.op_type != "Div" or divided.input[0] not in times.input:
                continue
            numbers = [self.operands(node)[1] for node in (divided, plus, halved)]
            if all(number is not None and np.isclose(number, expected).all()
                   for number, expected in zip(numbers, (math.sqrt(2), 1, 0.5))):
                self.replace([divided, error, plus, times, halved], "Gelu", [divided.input[0]], halved.output[0])

    def attention(self):
        """Self-attention of one item whose queries, keys and values one Linear makes, and whose Gemm is the last product."""
        for softmax in [node for node in self.nodes if node.op_type == "Softmax"]:
            scores, mixing = self.producer(softmax.input[0]), self.only_consumer(softmax.output[0], "MatMul")
            if scores is None or scores.op_type != "MatMul" or mixing is None:
                continue
            parts = [list(self.chain(name)) for name in (*scores.input, mixing.input[1])]
            packed = self.shared(parts, "Linear")
            last = self.following(mixing.output[0], "Gemm")
            if packed is None or last is None or not self.is_usual(parts, packed):
                continue
            first, final = self.producer(packed.input[0]), self.following(last.output[0], "Transpose")
            old = self.between(first, final)
            heads = next(self.constants[node.input[1]][1] for node in parts[0] if node.op_type == "Reshape")
            inputs = [first.input[0], *packed.input[1:], *last.input[1:]]
            self.replace(old, "Attention", inputs, final.output[0], heads=int(heads))

    def shared(self, parts, kind):
        """The node of this kind that all chains go back to first."""
        found = [next((node for node in part if node.op_type == kind), None) for part in parts]
        return found[0] if all(node is found[0] for node in found) else None

    def is_usual(self, parts, packed):
        """Whether queries, keys and values are the packed product's parts in this order, with scores scaled by the
        root of their width."""
        picked = [next((int(self.constants[node.input[1]]) for node in part if node.op_type == "Gather"), None)
                  for part in parts]
        scale = math.prod(float(self.operands(node)[1].item()) for part in parts for node in part[:part.index(packed)]
                          if node.op_type == "Mul")
        shape = next((self.constants[node.input[1]] for node in parts[0] if node.op_type == "Reshape"), ())
        return picked == [0, 1, 2] and len(shape) == 4 and abs(scale - 1 / math.sqrt(shape[-1])) < ROOT_TOLERANCE

    def following(self, name, kind):
        """Returns the next node of this kind that is the only consumer of the previous result."""
        found = self.consumers(name)
        while len(found) == 1 and found[0].op_type != kind:
            found = self.consumers(found[0].output[0])
        return found[0] if len(found) == 1 else None

    def between(self, first, last):
        """The nodes that the last one needs, back to the first one."""
        found, left = [first], [last]
        while left:
            node = left.pop()
            if not any(node is each for each in found):
                found.append(node)
                left += [each for each in map(self.producer, node.input) if each is not None]
        return found


def condensed(nodes, constants):
    """The nodes with Linear [x, weights, bias], Gelu [x] and Attention [x, packed weights and bias, last weights and bias]; the
    last weights are transposed, as Gemm has them."""
    patterns = Patterns(nodes, constants)
    patterns.linear()
    patterns.gelu()
    patterns.attention()
    return patterns.nodes
