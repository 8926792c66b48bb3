"""Trains a byte-level decoder on this project's license and writes Licence.mlpackage.

Usage: train.py [STEPS]
The architecture follows Llama: rotary embedding, two query heads per key head, RMS normalization, a gated product. Keys
and values are states. Weights are 4-bit integers in blocks of 32. Requires the packages of ../Digits/requirements.txt;
takes some minutes.
"""

import pathlib
import shutil
import sys

import coremltools as ct
import numpy as np
import torch
from coremltools.optimize import coreml as optimize
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
TEXT = HERE.parent.parent / "LICENSE"
TARGET = HERE / "Licence.mlpackage"
WORDS, WIDTH, HEADS, GROUPS, LAYERS, ROOM = 256, 96, 6, 3, 2, 256
SIZE = WIDTH // HEADS
BATCH, LENGTH, RATE, SEED = 16, 64, 4e-3, 20


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.scale


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = Norm(), Norm()
        self.query, self.join = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(WIDTH, GROUPS * SIZE, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(WIDTH, 3 * WIDTH, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * WIDTH, WIDTH, bias=False)

    def forward(self, x, positions, remember):
        rows = self.before(x)
        query, key, value = (
            part(rows).reshape(x.shape[0], x.shape[1], -1, SIZE).transpose(1, 2)
            for part in (self.query, self.key, self.value))
        key, value = remember(turned(key, positions), value)
        key, value = (part.repeat_interleave(HEADS // GROUPS, 1) for part in (key, value))
        later = torch.arange(key.shape[2])[None, :] > positions[:, None]
        scores = turned(query, positions) @ key.transpose(2, 3) * SIZE ** -0.5
        heads = scores.masked_fill(later, -1e4).softmax(-1) @ value
        x = x + self.join(heads.transpose(1, 2).reshape(x.shape))
        rows = self.between(x)
        return x + self.down(F.silu(self.gate(rows)) * self.up(rows))


def turned(x, positions):
    angles = positions[:, None].float() * 10000.0 ** (-torch.arange(0, SIZE, 2).float() / SIZE)[None]
    cosine, sine = (torch.cat([part, part], 1) for part in (angles.cos(), angles.sin()))
    return x * cosine + torch.cat([-x[..., SIZE // 2:], x[..., :SIZE // 2]], -1) * sine


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.head = Norm(), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens, positions, remember=lambda layer, key, value: (key, value)):
        x = self.words(tokens)
        for index, layer in enumerate(self.layers):
            x = layer(x, positions, lambda key, value, index=index: remember(index, key, value))
        return self.head(self.norm(x))


class Remembering(nn.Module):
    """The decoder with a KV cache: keys and values are written to states at the tokens' positions."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder
        for part in ("keys", "values"):
            self.register_buffer(part, torch.zeros(LAYERS, GROUPS, ROOM, SIZE))

    def forward(self, tokens, positions):
        begin, end = positions[0], positions[-1] + 1

        def remember(layer, key, value):
            self.keys[layer:layer + 1, :, begin:end] = key
            self.values[layer:layer + 1, :, begin:end] = value
            return self.keys[layer:layer + 1], self.values[layer:layer + 1]
        return self.decoder(tokens, positions, remember)


def trained(steps):
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    text = torch.tensor(list(TEXT.read_bytes()))
    decoder = Decoder()
    optimizer = torch.optim.AdamW(decoder.parameters(), RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for step in range(steps):
        starts = torch.randint(0, len(text) - LENGTH - 1, (BATCH,))
        rows = torch.stack([text[start:start + LENGTH + 1] for start in starts])
        scores = decoder(rows[:, :-1], torch.arange(LENGTH))
        loss = F.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"{step}: {loss.item():.3f} nats a byte", flush=True)
    return decoder.eval()


def exported(decoder):
    model = Remembering(decoder).eval()
    length = ct.RangeDim(1, ROOM, default=1)
    with torch.no_grad():
        traced = torch.jit.trace(model, (torch.zeros(1, 4, dtype=torch.long), torch.arange(4)), check_trace=False)
    made = ct.convert(
        traced, minimum_deployment_target=ct.target.iOS18, skip_model_load=True, compute_precision=ct.precision.FLOAT32,
        inputs=[ct.TensorType("tokens", (1, length), dtype=np.int32), ct.TensorType("positions", (length,), dtype=np.int32)],
        outputs=[ct.TensorType("logits", dtype=np.float32)],
        states=[ct.StateType(ct.TensorType(shape=(LAYERS, GROUPS, ROOM, SIZE), dtype=np.float16), name)
                for name in ("keys", "values")])
    return optimize.linear_quantize_weights(made, optimize.OptimizationConfig(optimize.OpLinearQuantizerConfig(
        mode="linear_symmetric", dtype="int4", granularity="per_block", block_size=32, weight_threshold=2048)))


def main(steps):
    made = exported(trained(steps))
    made.short_description = "Goes on with the Apache License, byte by byte."
    made.author, made.license = "The Kelvin authors", "Apache-2.0"
    shutil.rmtree(TARGET, ignore_errors=True)
    made.save(str(TARGET))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 700)
