"""Convolutional networks at 224x224 with seeded random weights.

Batch normalization is folded into the convolutions, as an export in evaluation mode has it, but where none can take it. Weights are
He-scaled (variance 2 / fan-in) and the last convolution of a residual branch is scaled down, so that activations stay finite and of
order one.
"""

from network import Network


def resnet50(seed=50):
    """He et al., "Deep Residual Learning for Image Recognition" (2015); v1.5: the stride is on the 3x3 convolution."""
    net = Network("resnet50", seed)
    net.classifier(*resnet50_body(net))
    return net.model()


def resnet50_body(net):
    """Returns ResNet-50's 2048 maps of a 32nd of the size of "image", and their number."""
    x = net.relu(net.convolution("image", 3, 64, 7, stride=2))
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for index in range(blocks):
            step = stride if index == 0 else 1
            branch = net.relu(net.convolution(x, channels, width, 1))
            branch = net.relu(net.convolution(branch, width, width, 3, stride=step))
            branch = net.convolution(branch, width, 4 * width, 1, gain=0.2)
            shortcut = x if index else net.convolution(x, channels, 4 * width, 1, stride=step, gain=1.0)
            x = net.relu(net.node("Add", [branch, shortcut]))
            channels = 4 * width
    return x, channels


def mobilenet_v2(seed=2, multiplier=1.0):
    """Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018), table 2, width 1.0 or another one."""
    net = Network("mobilenet_v2", seed)

    def wide(channels):
        return max(8, int(channels * multiplier + 4) // 8 * 8)

    channels = wide(32)
    x = net.relu6(net.convolution("image", 3, channels, 3, stride=2))
    for expansion, width, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                             (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        width = wide(width)
        for index in range(blocks):
            step = stride if index == 0 else 1
            hidden = channels * expansion
            branch = x if expansion == 1 else net.relu6(net.convolution(x, channels, hidden, 1))
            branch = net.relu6(net.convolution(branch, hidden, hidden, 3, stride=step, group=hidden))
            residual = step == 1 and channels == width
            branch = net.convolution(branch, hidden, width, 1, gain=0.2 if residual else 1.0)
            x = net.node("Add", [x, branch]) if residual else branch
            channels = width
    net.classifier(net.relu6(net.convolution(x, channels, wide(1280), 1)), wide(1280))
    return net.model()


def efficientnet_b0(seed=0):
    """Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks" (2019), table 1."""
    net = Network("efficientnet_b0", seed)
    x = net.silu(net.convolution("image", 3, 32, 3, stride=2))
    channels = 32
    for expansion, width, blocks, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5),
                                                     (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
                                                     (6, 320, 1, 1, 3)):
        for index in range(blocks):
            step = stride if index == 0 else 1
            hidden = channels * expansion
            branch = x if expansion == 1 else net.silu(net.convolution(x, channels, hidden, 1))
            branch = net.silu(net.convolution(branch, hidden, hidden, kernel, stride=step, group=hidden, gain=2.8))
            squeezed = net.node("GlobalAveragePool", [branch])
            squeezed = net.silu(net.convolution(squeezed, hidden, channels // 4, 1))
            gate = net.node("Sigmoid", [net.convolution(squeezed, channels // 4, hidden, 1, gain=1.0)])
            residual = step == 1 and channels == width
            branch = net.convolution(net.node("Mul", [branch, gate]), hidden, width, 1, gain=1.7 if residual else 5.5)
            x = net.node("Add", [x, branch]) if residual else branch
            channels = width
    net.classifier(net.silu(net.convolution(x, channels, 1280, 1)), 1280)
    return net.model()


def squeezenet(seed=11):
    """Iandola et al., "SqueezeNet" (2016), version 1.1."""
    net = Network("squeezenet", seed)
    x = net.relu(net.convolution("image", 3, 64, 3, stride=2))
    channels = 64
    for place, (squeeze, expand) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192),
                                               (64, 256), (64, 256))):
        if place in (0, 2, 4):
            x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2])
        squeezed = net.relu(net.convolution(x, channels, squeeze, 1))
        one, three = (net.relu(net.convolution(squeezed, squeeze, expand, kernel)) for kernel in (1, 3))
        x, channels = net.node("Concat", [one, three], axis=1), 2 * expand
    net.classifier(x, channels)
    return net.model()


def mobilenet_v3(seed=3):
    """Howard et al., "Searching for MobileNetV3" (2019), table 1: large."""
    net = Network("mobilenet_v3", seed)
    x = net.hard_swish(net.convolution("image", 3, 16, 3, stride=2))
    channels = 16
    for kernel, hidden, width, squeezes, swishes, step in (
            (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2),
            (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1),
            (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
            (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)):
        active = net.hard_swish if swishes else net.relu
        branch = active(net.convolution(x, channels, hidden, 1)) if hidden != channels else x
        branch = active(net.convolution(branch, hidden, hidden, kernel, stride=step, group=hidden))
        if squeezes:
            inner = (hidden // 4 + 7) // 8 * 8
            pooled = net.node("GlobalAveragePool", [branch])
            gate = net.convolution(net.relu(net.convolution(pooled, hidden, inner, 1)), inner, hidden, 1, gain=1.0)
            branch = net.node("Mul", [branch, net.node("HardSigmoid", [gate], alpha=1 / 6, beta=0.5)])
        residual = step == 1 and channels == width
        branch = net.convolution(branch, hidden, width, 1, gain=0.5 if residual else 2.0)
        x = net.node("Add", [x, branch]) if residual else branch
        channels = width
    net.classifier(net.hard_swish(net.convolution(x, channels, 960, 1)), 960)
    return net.model()


def densenet121(seed=121):
    """Huang et al., "Densely Connected Convolutional Networks" (2016), table 1."""
    net = Network("densenet121", seed)
    x = net.relu(net.convolution("image", 3, 64, 7, stride=2))
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for block, layers in enumerate((6, 12, 24, 16)):
        if block:
            x = net.convolution(net.relu(net.normalized(x, channels)), channels, channels // 2, 1, gain=1.0)
            x, channels = net.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2]), channels // 2
        for _ in range(layers):
            branch = net.relu(net.convolution(net.relu(net.normalized(x, channels)), channels, 128, 1))
            branch = net.convolution(branch, 128, 32, 3, gain=1.0)
            x, channels = net.node("Concat", [x, branch], axis=1), channels + 32
    net.classifier(net.relu(net.normalized(x, channels)), channels)
    return net.model()


def unet(seed=9):
    """Ronneberger et al., "U-Net" (2015), padded, 16 to 128 channels."""
    net = Network("unet", seed)

    def twice(x, channels, width):
        return net.relu(net.convolution(net.relu(net.convolution(x, channels, width, 3)), width, width, 3))

    x, channels, kept = "image", 3, []
    for width in (16, 32, 64):
        x, channels = twice(x, channels, width), width
        kept.append(x)
        x = net.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x, channels = twice(x, channels, 128), 128
    for width, skip in zip((64, 32, 16), reversed(kept)):
        x = net.node("Concat", [skip, net.transposed(x, channels, width, 2)], axis=1)
        x, channels = twice(x, 2 * width, width), width
    net.classifier(x, channels)
    return net.model()


def regnet_y(seed=400):
    """Radosavovic et al., "Designing Network Design Spaces" (2020): RegNetY-400MF, groups of 8 channels."""
    net = Network("regnet_y", seed)
    x = net.relu(net.convolution("image", 3, 32, 3, stride=2))
    channels = 32
    for width, blocks in ((48, 1), (104, 3), (208, 6), (440, 6)):
        for index in range(blocks):
            step = 2 if index == 0 else 1
            branch = net.relu(net.convolution(x, channels, width, 1))
            branch = net.relu(net.convolution(branch, width, width, 3, stride=step, group=width // 8))
            inner = channels // 4
            gate = net.relu(net.convolution(net.node("GlobalAveragePool", [branch]), width, inner, 1))
            gate = net.node("Sigmoid", [net.convolution(gate, inner, width, 1, gain=1.0)])
            branch = net.convolution(net.node("Mul", [branch, gate]), width, width, 1, gain=0.5)
            shortcut = net.convolution(x, channels, width, 1, stride=step, gain=1.0) if step == 2 else x
            x, channels = net.relu(net.node("Add", [branch, shortcut])), width
    net.classifier(x, channels)
    return net.model()


def shufflenet_v2(seed=22):
    """Ma et al., "ShuffleNet V2" (2018), table 5, 1x."""
    net = Network("shufflenet_v2", seed)
    x = net.relu(net.convolution("image", 3, 24, 3, stride=2))
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels, size = 24, 56
    for width, blocks in ((116, 4), (232, 8), (464, 4)):
        half, size = width // 2, size // 2
        for index in range(blocks):
            if index == 0:
                left = net.convolution(x, channels, channels, 3, stride=2, group=channels, gain=1.0)
                left = net.relu(net.convolution(left, channels, half, 1))
                right, source, step = x, channels, 2
            else:
                cuts = [net.integers(f"cut{len(net.nodes)}.{n}", [n]) for n in (0, half, 2 * half, 1)]
                left = net.node("Slice", [x, cuts[0], cuts[1], cuts[3]])
                right, source, step = net.node("Slice", [x, cuts[1], cuts[2], cuts[3]]), half, 1
            right = net.relu(net.convolution(right, source, half, 1))
            right = net.convolution(right, half, half, 3, stride=step, group=half, gain=1.0)
            right = net.relu(net.convolution(right, half, half, 1))
            x, channels = net.shuffled(net.node("Concat", [left, right], axis=1), width, size), width
    net.classifier(net.relu(net.convolution(x, channels, 1024, 1)), 1024)
    return net.model()
