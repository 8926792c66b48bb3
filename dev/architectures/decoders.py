"""Decoders with a KV cache: their greedy tokens, by Kelvin and by PyTorch."""
import os

import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional as F

from catalog import direct
from routes import NotExported

PROMPT = (3, 17, 42, 8, 25, 31, 5)
COUNT = 64
CAPACITY = 80
WIDTH, HEADS, GROUPS, LAYERS, WORDS = 32, 4, 2, 2, 64


def greedy(step):
    """Returns the tokens that follow the prompt; `step` returns the scores of the last of some tokens at a position."""
    tokens, fed, position = [], list(PROMPT), 0
    while len(tokens) < COUNT:
        scores = step(fed, position)
        position += len(fed)
        fed = [int(np.argmax(scores))]
        tokens += fed
    return [np.array(tokens)]


def whole(model):
    """Returns PyTorch's tokens, computed without a cache at each step."""
    read = []

    def step(fed, _):
        read.extend(fed)
        with torch.no_grad():
            return model(torch.tensor([read])).logits[0, -1].numpy()
    return greedy(step)


def spread(model):
    """Scales weights so that scores differ; weights initialized for training would always give the same token."""
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.25)
    return model.eval()


class Remembering(nn.Module):
    """A model of transformers whose keys and values are inputs and outputs, as exporters write it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, mask, *past):
        cache = transformers.DynamicCache.from_legacy_cache(
            tuple((past[index], past[index + 1]) for index in range(0, len(past), 2)))
        # Positions are passed instead of computed, because exporters write computed ones of some models as a constant.
        positions = (mask.cumsum(1) - 1)[:, -tokens.shape[1]:]
        given = self.model(
            tokens, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True)
        rows = given.past_key_values.to_legacy_cache()
        return (given.logits, *(part for layer in rows for part in layer))


def through_onnx(model, groups):
    from kelvin.onnx import InferenceSession
    size = WIDTH // HEADS
    past = [torch.zeros(1, groups, 3, size) for _ in range(2 * LAYERS)]
    path = os.path.join(os.environ["KELVIN_SCRATCH"], f"{os.getpid()}.onnx")
    given = [f"past_{index}" for index in range(2 * LAYERS)]
    gone = [f"present_{index}" for index in range(2 * LAYERS)]
    axes = {"tokens": {1: "length"}, "mask": {1: "total"}, "logits": {1: "length"}}
    axes.update({name: {2: "past"} for name in given}, **{name: {2: "total"} for name in gone})
    try:
        with torch.no_grad():
            torch.onnx.export(
                model.eval(), (torch.tensor([[1, 2]]), torch.ones(1, 5, dtype=torch.long), *past), path, dynamo=False,
                opset_version=18, input_names=["tokens", "mask", *given], output_names=["logits", *gone], dynamic_axes=axes)
    except Exception as error:
        raise NotExported(f"torch.onnx: {type(error).__name__}: {error}") from error
    session = InferenceSession(path, providers=["CPUExecutionProvider"])
    held = {name: np.zeros((1, groups, 0, size), np.float32) for name in given}
    known = {item.name for item in session.get_inputs()}

    def step(fed, position):
        values = {"tokens": np.array([fed], np.int64), "mask": np.ones((1, position + len(fed)), np.int64), **held}
        scores, *rows = session.run(None, {name: value for name, value in values.items() if name in known})
        held.update(zip(given, rows))
        return scores[0, -1]
    return greedy(step)


@direct("gpt2_greedy_past", "onnx")
def _():
    model = spread(transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=WORDS, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=CAPACITY, attn_implementation="eager")))
    return through_onnx(Remembering(model), HEADS), whole(model)


def llama():
    return spread(transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=GROUPS,
        intermediate_size=64, max_position_embeddings=CAPACITY, attn_implementation="eager")))


@direct("llama_greedy_past", "onnx")
def _():
    return through_onnx(Remembering(llama()), GROUPS), whole(llama())


class Stateful(nn.Module):
    """A decoder whose keys and values are states, written in place at the position of each token."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        size = WIDTH // HEADS
        for part in ("keys", "values"):
            self.register_buffer(part, torch.zeros(LAYERS, self.groups, CAPACITY, size))

    def remembered(self, layer, key, value, positions):
        begin, end = positions[0], positions[-1] + 1
        self.keys[layer:layer + 1, :, begin:end] = key
        self.values[layer:layer + 1, :, begin:end] = value
        return self.keys[layer:layer + 1], self.values[layer:layer + 1]

    def attended(self, query, key, value, positions):
        repeats = HEADS // self.groups
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
        later = torch.arange(CAPACITY)[None, :] > positions[:, None]
        scores = query @ key.transpose(2, 3) * (WIDTH // HEADS) ** -0.5
        rows = scores.masked_fill(later, -1e4).softmax(-1) @ value
        return rows.transpose(1, 2).reshape(1, -1, WIDTH)

    def split(self, rows, heads):
        return rows.reshape(1, -1, heads, WIDTH // HEADS).transpose(1, 2)


class StatefulGPT2(Stateful):
    groups = HEADS

    def forward(self, tokens, positions):
        body = self.model.transformer
        x = body.wte(tokens) + body.wpe(positions)[None]
        for index, block in enumerate(body.h):
            query, key, value = (self.split(part, HEADS) for part in block.attn.c_attn(block.ln_1(x)).split(WIDTH, 2))
            key, value = self.remembered(index, key, value, positions)
            x = x + block.attn.c_proj(self.attended(query, key, value, positions))
            x = x + block.mlp(block.ln_2(x))
        return self.model.lm_head(body.ln_f(x))


class StatefulLlama(Stateful):
    groups = GROUPS

    def forward(self, tokens, positions):
        body, size = self.model.model, WIDTH // HEADS
        x = body.embed_tokens(tokens)
        angles = positions[:, None].float() * 10000.0 ** (-torch.arange(0, size, 2).float() / size)[None]
        cosine, sine = (torch.cat([part, part], 1) for part in (angles.cos(), angles.sin()))
        turned = lambda t: t * cosine + torch.cat([-t[..., size // 2:], t[..., :size // 2]], -1) * sine
        for index, layer in enumerate(body.layers):
            rows, seen = layer.input_layernorm(x), layer.self_attn
            query, key, value = (
                self.split(part(rows), heads)
                for part, heads in ((seen.q_proj, HEADS), (seen.k_proj, GROUPS), (seen.v_proj, GROUPS)))
            key, value = self.remembered(index, turned(key), value, positions)
            x = x + seen.o_proj(self.attended(turned(query), key, value, positions))
            rows = layer.post_attention_layernorm(x)
            x = x + layer.mlp.down_proj(F.silu(layer.mlp.gate_proj(rows)) * layer.mlp.up_proj(rows))
        return self.model.lm_head(body.norm(x))


def through_states(stateful):
    import coremltools as ct
    import kelvin
    length = ct.RangeDim(1, len(PROMPT), default=len(PROMPT))
    try:
        with torch.no_grad():
            traced = torch.jit.trace(
                stateful.eval(), (torch.tensor([PROMPT]), torch.arange(len(PROMPT))), check_trace=False)
        made = ct.convert(
            traced, minimum_deployment_target=ct.target.iOS18, skip_model_load=True, compute_precision=ct.precision.FLOAT32,
            inputs=[ct.TensorType("tokens", (1, length), dtype=np.int32), ct.TensorType("positions", (length,), dtype=np.int32)],
            outputs=[ct.TensorType("logits", dtype=np.float32)],
            states=[ct.StateType(ct.TensorType(shape=(LAYERS, stateful.groups, CAPACITY, WIDTH // HEADS), dtype=np.float16), name)
                    for name in ("keys", "values")])
    except Exception as error:
        raise NotExported(f"coremltools: {type(error).__name__}: {error}") from error
    folder = os.path.join(os.environ["KELVIN_SCRATCH"], f"{os.getpid()}.mlpackage")
    made.save(folder)
    model = kelvin.Model(folder, units="cpu", precision="full", no_cache=True)
    state = model.make_state()

    def step(fed, position):
        return model.predict({
            "tokens": np.array([fed], np.int32),
            "positions": np.arange(position, position + len(fed), dtype=np.int32)}, state=state)["logits"][0, -1]
    return greedy(step)


@direct("gpt2_greedy_states", "mlprogram32")
def _():
    model = spread(transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=WORDS, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=CAPACITY, attn_implementation="eager")))
    return through_states(StatefulGPT2(model)), whole(model)


@direct("llama_greedy_states", "mlprogram32")
def _():
    return through_states(StatefulLlama(llama())), whole(llama())
