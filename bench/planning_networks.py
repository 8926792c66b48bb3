"""Planning problems of known networks on a processor and a card with little memory, for `planning.py`.

Layers have the real shapes. Seconds follow from operations and bytes on a processor of 400 Gop/s with 25 GB/s and on a card of
6 Top/s with 300 GB/s behind 12 GB/s; nothing was measured.
"""

RATES = {"cpu": (4e11, 25e9, 2e-6), "card": (6e12, 300e9, 6e-6)}


class Network:
    """Collects layers. Values and weights hold float32."""

    def __init__(self, shape):
        self.nodes, self.shapes = [], {"in": shape}

    def add(self, inputs, shape, operations=0.0, weights=0, shared=None):
        name = f"v{len(self.nodes)}"
        self.shapes[name] = shape
        moved = 4 * (weights + count(shape) + sum(count(self.shapes[value]) for value in inputs))
        node = {"id": f"n{len(self.nodes)}", "inputs": inputs, "outputs": [{"value": name, "bytes": 4 * count(shape)}],
                "seconds": {device: fixed + max(operations / rate, moved / bandwidth)
                            for device, (rate, bandwidth, fixed) in RATES.items()}}
        if weights:
            node["weights"] = [{"weight": shared or f"w{len(self.nodes)}", "bytes": 4 * weights}]
        self.nodes.append(node)
        return name

    def convolution(self, value, channels, kernel=3, stride=1, groups=1):
        given, height, width = self.shapes[value]
        shape = (channels, -(-height // stride), -(-width // stride))
        weights = channels * (given // groups) * kernel * kernel
        return self.add([value], shape, 2 * weights * shape[1] * shape[2], weights)

    def linear(self, value, features, shared=None):
        rows, given = self.shapes[value]
        return self.add([value], (rows, features), 2 * rows * given * features, given * features, shared)

    def sum(self, first, second):
        return self.add([first, second], self.shapes[first], count(self.shapes[first]))

    def pool(self, value):
        channels, height, width = self.shapes[value]
        return self.add([value], (channels, height // 2, width // 2), count(self.shapes[value]))

    def problem(self, share, goal="latency"):
        """The problem on a card that holds `share` of the weights, and the largest values of a node besides."""
        sizes = {weight["weight"]: weight["bytes"] for node in self.nodes for weight in node.get("weights", [])}
        values = max(4 * (sum(count(self.shapes[value]) for value in node["inputs"])) + node["outputs"][0]["bytes"]
                     for node in self.nodes)
        return {"devices": ["cpu", "card"], "host": "cpu", "goal": goal,
                "transfers": [{"from": a, "to": b, "latency": 1e-5, "bytesPerSecond": 12e9}
                              for a, b in (("cpu", "card"), ("card", "cpu"))],
                "inputs": [{"value": "in", "bytes": 4 * count(self.shapes["in"])}],
                "outputs": [f"v{len(self.nodes) - 1}"], "nodes": self.nodes,
                "memory": {"card": int(share * sum(sizes.values()) + 3 * values)}}


def count(shape):
    product = 1
    for extent in shape:
        product *= extent
    return product


def residual(blocks, bottleneck):
    """ResNet with so many blocks in each of four stages."""
    net = Network((3, 224, 224))
    value = net.pool(net.convolution("in", 64, 7, 2))
    for stage, repeats in enumerate(blocks):
        width = 64 << stage
        for block in range(repeats):
            stride = 2 if stage and not block else 1
            if bottleneck:
                path = net.convolution(value, width, 1)
                path = net.convolution(net.convolution(path, width, 3, stride), 4 * width, 1)
            else:
                path = net.convolution(net.convolution(value, width, 3, stride), width, 3)
            same = net.shapes[value] == net.shapes[path]
            value = net.sum(path, value if same else net.convolution(value, net.shapes[path][0], 1, stride))
    value = net.add([value], (1, net.shapes[value][0]), count(net.shapes[value]))
    net.linear(value, 1000)
    return net


def vgg():
    net, value = Network((3, 224, 224)), "in"
    for width, repeats in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(repeats):
            value = net.convolution(value, width)
        value = net.pool(value)
    value = net.add([value], (1, count(net.shapes[value])))
    for features in (4096, 4096, 1000):
        value = net.linear(value, features)
    return net


def mobile():
    """MobileNetV2."""
    net = Network((3, 224, 224))
    value = net.convolution("in", 32, 3, 2)
    for factor, width, repeats, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(repeats):
            wide = factor * net.shapes[value][0]
            path = net.convolution(value, wide, 1)
            path = net.convolution(net.convolution(path, wide, 3, 1 if block else stride, wide), width, 1)
            value = net.sum(path, value) if net.shapes[path] == net.shapes[value] else path
    value = net.convolution(value, 1280, 1)
    value = net.add([value], (1, 1280), count(net.shapes[value]))
    net.linear(value, 1000)
    return net


def squeeze():
    """SqueezeNet 1.1."""
    net = Network((3, 224, 224))
    value = net.pool(net.convolution("in", 64, 3, 2))
    for number, width in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        if number in (2, 4):
            value = net.pool(value)
        small = net.convolution(value, width, 1)
        left, right = net.convolution(small, 4 * width, 1), net.convolution(small, 4 * width, 3)
        value = net.add([left, right], (8 * width, *net.shapes[small][1:]))
    net.convolution(value, 1000, 1)
    return net


def fields():
    """A U-Net of four levels."""
    net, kept, value = Network((3, 256, 256)), [], "in"
    for width in (64, 128, 256, 512):
        value = net.convolution(net.convolution(value, width), width)
        kept.append(value)
        value = net.pool(value)
    value = net.convolution(net.convolution(value, 1024), 1024)
    for skipped in reversed(kept):
        channels, height, width = net.shapes[skipped]
        value = net.add([value], (channels, height, width), 2 * 4 * channels * channels * height * width,
                        8 * channels * channels)
        value = net.add([value, skipped], (2 * channels, height, width))
        value = net.convolution(net.convolution(value, channels), channels)
    net.convolution(value, 2, 1)
    return net


def transformer(layers, width, rows, vocabulary, tied):
    """An encoder, or with `tied` a decoder whose first and last layer share the table of tokens."""
    net = Network((rows, 1))
    table = "table" if tied else None
    value = net.add(["in"], (rows, width), 0, vocabulary * width, table)
    for _ in range(layers):
        parts = [net.linear(value, width) for _ in range(3)]
        mixed = net.add(parts, (rows, width), 4 * rows * rows * width)
        value = net.sum(net.linear(mixed, width), value)
        value = net.sum(net.linear(net.linear(value, 4 * width), width), value)
    net.linear(value, vocabulary if tied else 2, table)
    return net


NETWORKS = {
    "ResNet-18": lambda: residual((2, 2, 2, 2), False), "ResNet-34": lambda: residual((3, 4, 6, 3), False),
    "ResNet-50": lambda: residual((3, 4, 6, 3), True), "VGG-16": vgg, "MobileNetV2": mobile, "SqueezeNet": squeeze,
    "U-Net": fields, "BERT base": lambda: transformer(12, 768, 128, 30_522, False),
    "ViT-like, 24 layers": lambda: transformer(24, 384, 197, 1_000, False),
    "GPT-2, one token": lambda: transformer(12, 768, 1, 50_257, True),
}
