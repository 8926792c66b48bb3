"""ConvNeXt with seeded random weights: convolutions between layer normalizations and products over the last axis of
channels."""

from transformer_network import TransformerNetwork

CHANNELS_LAST, CHANNELS_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def convnext_tiny(seed=7, stages=((96, 3), (192, 3), (384, 9), (768, 3))):
    """Liu et al., "A ConvNet for the 2020s" (2022), section 3: ConvNeXt-T."""
    net = TransformerNetwork("convnext_tiny", seed)

    def normalized(x, channels):
        last = net.layer_normalized(net.transposed_as(x, *CHANNELS_LAST), channels, 1e-6)
        return net.transposed_as(last, *CHANNELS_FIRST)

    def block(x, channels):
        branch = net.convolution(x, channels, channels, 7, group=channels, gain=1.0)
        branch = net.layer_normalized(net.transposed_as(branch, *CHANNELS_LAST), channels, 1e-6)
        branch = net.linear(net.gelu(net.linear(branch, channels, 4 * channels, gain=2.0)), 4 * channels, channels)
        scale = net.constant(f"scale{len(net.nodes)}", 0.3 + 0.1 * net.random.standard_normal(channels))
        branch = net.transposed_as(net.node("Mul", [scale, branch]), *CHANNELS_FIRST)
        return net.node("Add", [x, branch])

    x, channels = "image", 3
    for index, (width, blocks) in enumerate(stages):
        if index == 0:
            x = normalized(net.reduced(x, channels, width, 4), width)
        else:
            x = net.reduced(normalized(x, channels), channels, width, 2)
        channels = width
        for _ in range(blocks):
            x = block(x, channels)
    net.classified(net.layer_normalized(net.pooled(x), channels, 1e-6), channels)
    return net.model()
