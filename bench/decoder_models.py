"""Decoders of the shape of GPT-2's smallest (Radford et al., 2019), with seeded random weights. Inputs "input_ids" and
"position_ids" [1, S], int64, output "logits" [1, S, 50257]; keys and values come in as "past_key_values.N.key" and go out as
"present.N.key"."""

from onnx import TensorProto, helper

from transformer_network import TransformerNetwork

WIDTH, HEADS, LAYERS, WORDS, ROOM = 768, 12, 12, 50257, 1024
SIZE = WIDTH // HEADS


def gpt2_past(seed=2):
    """Keys and values grow by the tokens that are read, as exporters write them; an input "attention_mask" [1, T],
    int64, selects the tokens that count."""
    net = TransformerNetwork("gpt2_past", seed)
    past = net.size("past_key_values.0.key", 2)
    total = net.node("Add", [past, net.size("input_ids", 1)])
    keys, queries = (net.node("Range", [start, total, net.whole(1)]) for start in (net.whole(0), past))
    causal = net.node("LessOrEqual", [keys, net.node("Unsqueeze", [queries, net.whole([1])])])
    seen = net.node("And", [causal, net.node("Cast", ["attention_mask"], to=TensorProto.BOOL)])
    bias = net.node("Where", [seen, net.scalar(0.0), net.scalar(-1e4)])

    def attention(query, key, value, layer):
        parts = [net.transposed_as(net.reshaped(part, [1, net.size(part, 1), HEADS, SIZE]), 0, 2, 1, 3)
                 for part in (query, key, value)]
        for place, part in ((1, "key"), (2, "value")):
            parts[place] = net.node("Concat", [f"past_key_values.{layer}.{part}", parts[place]], axis=2)
            net.named(parts[place], f"present.{layer}.{part}")
            parts[place] = f"present.{layer}.{part}"
        scores = net.node("MatMul", [parts[0], net.transposed_as(parts[1], 0, 1, 3, 2)])
        scores = net.node("Add", [net.node("Mul", [scores, net.scalar(SIZE ** -0.5)]), bias])
        mixed = net.transposed_as(net.node("MatMul", [net.node("Softmax", [scores], axis=-1), parts[2]]), 0, 2, 1, 3)
        return net.reshaped(mixed, [1, net.size(mixed, 1), WIDTH])
    return decoder(net, attention, "past", "total", {"attention_mask": (TensorProto.INT64, [1, "total"])})


def gpt2_shared(seed=2):
    """Keys and values have room for 1024 tokens: ONNX Runtime's GroupQueryAttention, as onnxruntime-genai writes it."""
    net = TransformerNetwork("gpt2_shared", seed)

    def attention(query, key, value, layer):
        past, present = ([f"{kind}.{layer}.{part}" for part in ("key", "value")] for kind in ("past_key_values", "present"))
        heads = f"heads{layer}"
        net.nodes.append(helper.make_node(
            "GroupQueryAttention", [query, key, value, *past, "seqlens_k", "total_sequence_length"], [heads, *present],
            name=heads, domain="com.microsoft", num_heads=HEADS, kv_num_heads=HEADS))
        return heads
    lengths = {"seqlens_k": (TensorProto.INT32, [1]), "total_sequence_length": (TensorProto.INT32, [])}
    return decoder(net, attention, ROOM, ROOM, lengths, ["com.microsoft"])


def decoder(net, attention, past, present, lengths, domains=()):
    """The rest of the decoder, around an attention.

    past, present: the number of tokens of keys and values, before and after.
    lengths: further inputs.

    past, present: how many tokens there are of keys and values, before and after.
    lengths: further inputs.
    """
    words = net.constant("words", net.random.standard_normal((WORDS, WIDTH)) * 0.1)
    places = net.constant("places", net.random.standard_normal((ROOM, WIDTH)) * 0.1)
    x = net.node("Add", [net.node("Gather", [words, "input_ids"]), net.node("Gather", [places, "position_ids"])])
    for layer in range(LAYERS):
        normed = net.layer_normalized(x, WIDTH)
        parts = [net.linear(normed, WIDTH, WIDTH) for _ in range(3)]
        x = net.node("Add", [x, net.linear(attention(*parts, layer), WIDTH, WIDTH, gain=0.2)])
        x = net.node("Add", [x, net.perceptron(net.layer_normalized(x, WIDTH), WIDTH, 4 * WIDTH, net.gelu, gain=0.2)])
    scores = net.node("MatMul", [net.layer_normalized(x, WIDTH), net.node("Transpose", [words], perm=[1, 0])])
    net.named(scores, "logits")

    def caches(kind, rows):
        return {f"{kind}.{layer}.{part}": (TensorProto.FLOAT, [1, HEADS, rows, SIZE])
                for layer in range(LAYERS) for part in ("key", "value")}
    tokens = {name: (TensorProto.INT64, [1, "length"]) for name in ("input_ids", "position_ids")}
    return net.model({**tokens, **lengths, **caches("past_key_values", past)},
                     {"logits": (TensorProto.FLOAT, [1, "length", WORDS]), **caches("present", present)}, domains)
