"""Trains the digit classifier and writes its weights to build/digits.pt.

Usage: train.py [EPOCHS]
Prints the top-1 accuracy on the whole held-out split, with each digit rendered once.
"""

import pathlib
import sys

import torch
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn

from digits import BIAS, SCALE, SEED, SIZE, DigitNet, render, split

WEIGHTS = pathlib.Path(__file__).parent / "build" / "digits.pt"
BATCH = 64
PEAK_RATE = 4e-3


def accuracy(network, images, truths):
    network.eval()
    with torch.no_grad():
        predictions = torch.cat([network(part * SCALE + BIAS).argmax(1) for part in images.split(120)])
    return (predictions == truths).float().mean().item()


def main(epochs):
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    glyphs, truths, training, held_out = split()
    held_out_images = render(glyphs[held_out], SIZE, SIZE, torch.Generator().manual_seed(SEED + 1))
    held_out_truths = truths[held_out]

    network = DigitNet()
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.02)
    steps = -(-len(training) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, total_steps=epochs * steps, pct_start=0.2)
    for epoch in range(1, epochs + 1):
        network.train()
        total = 0.0
        for batch in training[torch.randperm(len(training), generator=generator)].split(BATCH):
            images = render(glyphs[batch], SIZE, SIZE, generator) * SCALE + BIAS
            loss = F.cross_entropy(network(images), truths[batch], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            averaged.update_parameters(network)
            total += loss.item() * len(batch)
        if epoch % 10 == 0 or epoch == epochs:
            print(f"epoch {epoch:3d}  loss {total / len(training):.4f}", flush=True)

    batches = (render(glyphs[part], SIZE, SIZE, generator) * SCALE + BIAS for part in training.split(BATCH))
    update_bn(batches, averaged)
    final = averaged.module
    print(f"held-out top-1: {100 * accuracy(final, held_out_images, held_out_truths):.2f} % "
          f"of {len(held_out)} digits, seed {SEED}")
    WEIGHTS.parent.mkdir(exist_ok=True)
    torch.save(final.state_dict(), WEIGHTS)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 80)
