"""Writes a small decoder with a key-value cache as coremltools exports it from PyTorch, and the tokens PyTorch makes.

Weights are random and seeded; the cache is a pair of states. The exports differ in how a program is told what to write:

- `growing`: tokens and a mask that is as long as what the cache holds then, both of flexible length, so that a prompt is
  read at once; the written range follows from the sizes of the inputs.
- `position`: one token and its position, written by a slice that begins there, and a mask as long as the cache.
- `scattered`: as `position`, written by a scatter along the cache.
- `past.onnx`: keys and values are inputs and outputs, which grow by the tokens that are read; `ignoring.onnx` is the same
  without regard to its mask.
- `lengths.onnx`: as `past.onnx`, told nothing but the tokens: what their places are follows from the length of the past.
- `shared.onnx`: the same with ONNX Runtime's GroupQueryAttention, whose keys and values have room for all there will be.

`tokens.kv` has the prompt and what greedy decoding makes of it in PyTorch, in the format of ../README.md; `margin` is the
least lead of the chosen token's logit.

    .venv/bin/pip install coremltools==9.0 torch onnx "numpy<2.5"
    .venv/bin/python Tests/Vectors/Decoder/generate.py
"""

import pathlib
import shutil
import sys

import coremltools as ct
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import kv  # noqa: E402

VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT, STEPS = 96, 32, 2, 2, 80, 64
PROMPT = [3, 14, 15, 92, 65]
SEED = 120
SIZE = WIDTH // HEADS


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(1 + 0.1 * torch.randn(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def rotated(x, cosine, sine):
    first, second = x[..., : SIZE // 2], x[..., SIZE // 2:]
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


class Layer(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.before, self.between = Norm(), Norm()
        self.query, self.key, self.value, self.output = (torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up = (torch.nn.Linear(WIDTH, 2 * WIDTH, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x, cosine, sine, mask, update):
        normed = self.before(x)

        def heads(projection):
            return projection(normed).view(1, -1, HEADS, SIZE).transpose(1, 2)

        query, key = rotated(heads(self.query), cosine, sine), rotated(heads(self.key), cosine, sine)
        keys, values = update(self.index, key, heads(self.value))
        attended = torch.nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
        x = x + self.output(attended.transpose(1, 2).reshape(1, -1, WIDTH))
        normed = self.between(x)
        return x + self.down(torch.nn.functional.silu(self.gate(normed)) * self.up(normed))


class Decoder(torch.nn.Module):
    """Subclasses differ in how the decoder is told the range to write."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(SEED)
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.layers = torch.nn.ModuleList(Layer(index) for index in range(LAYERS))
        self.norm = Norm()
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                torch.nn.init.normal_(parameter, std=2.0 / parameter.shape[1] ** 0.5)
        angles = torch.arange(CONTEXT)[:, None] / 100 ** (torch.arange(SIZE // 2) * 2 / SIZE)[None]
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(LAYERS, 1, HEADS, CONTEXT, SIZE))

    def run(self, ids, cosine, sine, mask, update):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, cosine, sine, mask, update)
        return self.head(self.norm(x))


class Growing(Decoder):
    def forward(self, ids, mask):
        length, end = ids.shape[-1], mask.shape[-1]
        begin = end - length

        def update(layer, key, value):
            self.keys[layer, :, :, begin:end, :] = key
            self.values[layer, :, :, begin:end, :] = value
            return self.keys[layer, :, :, :end, :], self.values[layer, :, :, :end, :]

        return self.run(ids, self.cosine[begin:end], self.sine[begin:end], mask, update)


class Position(Decoder):
    def forward(self, ids, position, mask):
        def update(layer, key, value):
            self.keys[layer, :, :, position:position + 1, :] = key
            self.values[layer, :, :, position:position + 1, :] = value
            return self.keys[layer], self.values[layer]

        return self.run(ids, self.cosine[position], self.sine[position], mask, update)


class Scattered(Decoder):
    def forward(self, ids, position, mask):
        places = position.view(1, 1, 1, 1).expand(1, HEADS, 1, SIZE)

        def update(layer, key, value):
            self.keys[layer] = self.keys[layer].scatter(2, places, key)
            self.values[layer] = self.values[layer].scatter(2, places, value)
            return self.keys[layer], self.values[layer]

        return self.run(ids, self.cosine[position], self.sine[position], mask, update)


class Past(Decoder):
    """`masks` decides whether masked tokens are ignored."""

    masks = True

    def forward(self, ids, mask, positions, *past):
        present = []

        def update(layer, key, value):
            rows = [torch.cat((past[2 * layer + index], part), dim=2) for index, part in enumerate((key, value))]
            present.extend(rows)
            return rows

        begin = past[0].shape[2]
        end = begin + ids.shape[1]
        seen = torch.arange(end)[None] <= torch.arange(begin, end)[:, None]
        seen = seen & (mask > (0 if self.masks else -1))
        logits = self.run(ids, self.cosine[positions[0]], self.sine[positions[0]], seen[None, None], update)
        return (logits, *present)


class Ignoring(Past):
    masks = False


class Lengths(Past):
    """The positions are a slice of one table and gathered from another."""

    def forward(self, ids, *past):
        present = []

        def update(layer, key, value):
            rows = [torch.cat((past[2 * layer + index], part), dim=2) for index, part in enumerate((key, value))]
            present.extend(rows)
            return rows

        begin = past[0].shape[2]
        end = begin + ids.shape[1]
        places = torch.arange(begin, end)
        seen = torch.arange(end)[None] <= places[:, None]
        logits = self.run(ids, self.cosine[begin:end], self.sine[places], seen[None, None], update)
        return (logits, *present)


def rows(kind):
    return [f"{kind}.{layer}.{part}" for layer in range(LAYERS) for part in ("key", "value")]


def export_past(name, model):
    past = [torch.zeros(1, HEADS, 3, SIZE) for _ in rows("past")]
    names = rows("past_key_values")
    axes = {name: {1: "length"} for name in ("input_ids", "position_ids", "logits")}
    axes.update({name: {2: "past"} for name in names}, **{name: {2: "total"} for name in rows("present")})
    told = [] if isinstance(model, Lengths) else ["attention_mask", "position_ids"]
    sample = torch.tensor([[1, 2]]), *[torch.ones(1, 5, dtype=torch.long), torch.tensor([[3, 4]])][:len(told)], *past
    with torch.no_grad():
        torch.onnx.export(
            model.eval(), sample, str(HERE / f"{name}.onnx"), dynamo=False, opset_version=18,
            input_names=["input_ids", *told, *names], output_names=["logits", *rows("present")],
            dynamic_axes={name: axis for name, axis in {"attention_mask": {1: "total"}, **axes}.items()
                          if name in {"input_ids", "logits", *told, *names, *rows("present")}})


def export_shared():
    model, nodes, weights = Decoder(), [], {}

    def add(kind, inputs, outputs=None, **attributes):
        outputs = outputs or [f"{kind}_{len(nodes)}"]
        nodes.append(helper.make_node(kind, inputs, outputs, **attributes))
        return outputs[0]

    def weight(name, tensor):
        weights[name] = np.ascontiguousarray(tensor.detach().numpy())
        return name

    def norm(x, part, name):
        square = add("Add", [add("ReduceMean", [add("Mul", [x, x]), "last"]), "epsilon"])
        return add("Mul", [add("Div", [x, add("Sqrt", [square])]), weight(name, part.weight)])

    def times(x, part, name):
        return add("MatMul", [x, weight(name, part.weight.T)])

    weights["last"], weights["epsilon"] = np.array([-1], np.int64), np.array(1e-5, np.float32)
    cosine, sine = (weight(name, part[:, :SIZE // 2]) for name, part in (("cosine", model.cosine), ("sine", model.sine)))
    x = add("Gather", [weight("words", model.embedding.weight), "input_ids"])
    for index, layer in enumerate(model.layers):
        normed = norm(x, layer.before, f"before{index}")
        parts = [times(normed, part, f"{name}{index}")
                 for name, part in (("query", layer.query), ("key", layer.key), ("value", layer.value))]
        past, present = ([f"{kind}.{index}.{part}" for part in ("key", "value")] for kind in ("past_key_values", "present"))
        heads = add("GroupQueryAttention", [*parts, *past, "seqlens_k", "total_sequence_length", cosine, sine],
                    [f"heads{index}", *present], domain="com.microsoft", num_heads=HEADS, kv_num_heads=HEADS, do_rotary=1)
        x = add("Add", [x, times(heads, layer.output, f"output{index}")])
        normed = norm(x, layer.between, f"between{index}")
        gate = times(normed, layer.gate, f"gate{index}")
        gated = add("Mul", [add("Mul", [gate, add("Sigmoid", [gate])]), times(normed, layer.up, f"up{index}")])
        x = add("Add", [x, times(gated, layer.down, f"down{index}")])
    add("MatMul", [norm(x, model.norm, "norm"), weight("head", model.head.weight.T)], ["logits"])
    room = [1, HEADS, CONTEXT, SIZE]
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "length"]),
              helper.make_tensor_value_info("seqlens_k", TensorProto.INT32, [1]),
              helper.make_tensor_value_info("total_sequence_length", TensorProto.INT32, [])]
    inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, room) for name in rows("past_key_values")]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "length", VOCABULARY])]
    outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, room) for name in rows("present")]
    graph = helper.make_graph(
        nodes, "shared", inputs, outputs, [numpy_helper.from_array(value, name) for name, value in weights.items()])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(HERE / "shared.onnx"))


def causal(length, end, full):
    """Each of the last `length` of `end` tokens sees those up to itself."""
    seen = torch.arange(full)[None] <= torch.arange(end - length, end)[:, None]
    return torch.where(seen, 0.0, -1e4)[None, None]


def greedy():
    """The tokens that PyTorch makes, and the least lead of one."""
    model, tokens, margins, fed = Growing().eval(), [], [], PROMPT
    end = 0
    with torch.no_grad():
        for _ in range(STEPS):
            end += len(fed)
            logits = model(torch.tensor([fed]), causal(len(fed), end, end))[0, -1]
            best = logits.topk(2).values
            margins.append(float(best[0] - best[1]))
            fed = [int(logits.argmax())]
            tokens += fed
    return tokens, min(margins)


def export(name, model, inputs, precision):
    """The model as a package; `inputs` are samples and the types that coremltools is told."""
    model.eval()
    with torch.no_grad():
        traced = torch.jit.trace(model, tuple(sample for sample, _ in inputs), check_trace=False)
    shape = (LAYERS, 1, HEADS, CONTEXT, SIZE)
    states = [ct.StateType(wrapped_type=ct.TensorType(shape=shape, dtype=np.float16), name=name)
              for name in ("keys", "values")]
    package = HERE / f"{name}.mlpackage"
    shutil.rmtree(package, ignore_errors=True)
    ct.convert(traced, inputs=[kind for _, kind in inputs], outputs=[ct.TensorType(name="logits")], states=states,
               minimum_deployment_target=ct.target.iOS18, compute_precision=precision, skip_model_load=True,
               convert_to="mlprogram").save(str(package))


def main():
    full, half = ct.precision.FLOAT32, ct.precision.FLOAT16
    length = ct.RangeDim(1, CONTEXT, default=1)
    end = ct.RangeDim(1, CONTEXT, default=1)
    one = torch.tensor([[1]], dtype=torch.int32)
    token = (one, ct.TensorType("ids", (1, 1), np.int32))
    place = (torch.tensor([4], dtype=torch.int32), ct.TensorType("position", (1,), np.int32))
    mask = (causal(1, 5, CONTEXT), ct.TensorType("mask", (1, 1, 1, CONTEXT), np.float32))
    growing = [(torch.tensor([[1, 2, 3]], dtype=torch.int32), ct.TensorType("ids", (1, length), np.int32)),
               (causal(3, 5, 5), ct.TensorType("mask", (1, 1, length, end), np.float32))]
    export("growing", Growing(), growing, full)
    export("growing_half", Growing(), growing, half)
    export("position", Position(), [token, place, mask], full)
    export("scattered", Scattered(), [token, place, mask], full)
    export_past("past", Past())
    export_past("ignoring", Ignoring())
    export_past("lengths", Lengths())
    export_shared()
    tokens, margin = greedy()
    header = {"case": "tokens", "margin": margin, "tolerance": {"absolute": 0, "relative": 0}}
    payload = kv.encode(header, [("prompt", np.array(PROMPT, np.int32))], [("tokens", np.array(tokens, np.int32))])
    (HERE / "tokens.kv").write_bytes(payload)
    print(tokens, len(set(tokens)), margin)


main()
