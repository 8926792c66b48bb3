"""Sequences of boxes with known ids, for tracking.py: people who walk, cross, hide each other and pass behind pillars.

Everything follows from the name of the scenario and the seed. A frame has the true boxes that are at least partly visible,
and the boxes of a simulated detector: misses, false boxes, noise, and scores that fall with the visible share.
"""

import zlib
from dataclasses import dataclass

import numpy as np

WIDTH, HEIGHT = 1280.0, 720.0
# The smallest visible share of a true box that counts.
LEAST_VISIBLE = 0.1
# A detector drops the box with the lower score of two that overlap by more.
MAXIMUM_OVERLAP = 0.7


@dataclass
class Scenario:
    people: int = 10
    # Widths of a person per second.
    speed: float = 1.0
    # The deviation of the speed's change per second, in widths.
    restlessness: float = 0.6
    pillars: int = 0
    frames: int = 300
    rate: float = 30.0
    # The share of frames that do not reach the detector, in runs as a busy machine drops them.
    dropped: float = 0.0
    missed: float = 0.04
    false_boxes: float = 0.3
    # The deviation of a detected edge, as a share of the box.
    noise: float = 0.03


SCENARIOS = {
    "crossings": Scenario(people=14),
    "crowd": Scenario(people=30),
    "pillars": Scenario(people=10, pillars=3, speed=1.6),
    "fast": Scenario(people=8, speed=4.0, restlessness=3.0),
    "noisy": Scenario(people=10, missed=0.2, false_boxes=2.0, noise=0.06),
    "dropped frames": Scenario(people=10, dropped=0.5, frames=450),
    "10 frames/s": Scenario(people=10, rate=10.0, pillars=1),
}


@dataclass
class Frame:
    time: float
    # Ids of the true boxes, and boxes as x, y, width, height.
    ids: np.ndarray
    truth: np.ndarray
    # Detected boxes as x, y, width, height, score.
    boxes: np.ndarray


def overlaps(first, second):
    """Returns the intersection over union of each box of one list with each of the other."""
    if not len(first) or not len(second):
        return np.zeros((len(first), len(second)))
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, :2] + first[:, None, 2:4], second[None, :, :2] + second[None, :, 2:4])
    shared = np.prod(np.maximum(high - low, 0), axis=2)
    areas = np.prod(first[:, 2:4], axis=1)[:, None] + np.prod(second[:, 2:4], axis=1)[None] - shared
    return shared / areas


def paths(scenario, random):
    """Returns the boxes of all people in all frames, and their order from near to far."""
    count, step = scenario.people, 1 / scenario.rate
    height = random.uniform(80, 240, count)
    width = height * random.uniform(0.35, 0.5, count)
    center = random.uniform([0, 200], [WIDTH, HEIGHT - 100], (count, 2))
    angle = random.uniform(0, 2 * np.pi, count)
    usual = scenario.speed * width[:, None] * np.stack([np.cos(angle), 0.3 * np.sin(angle)], axis=1)
    speed, swell = usual.copy(), random.uniform(-0.1, 0.1, count)
    boxes = np.zeros((scenario.frames, count, 4))
    for frame in range(scenario.frames):
        # A person's speed returns to the usual one within about a second.
        push = random.normal(0, scenario.restlessness, (count, 2)) * width[:, None] * [1, 0.3]
        speed += (usual - speed) * step + push * np.sqrt(step)
        center += speed * step
        for axis, limit in ((0, WIDTH), (1, HEIGHT)):
            outside = ((center[:, axis] < 0) & (speed[:, axis] < 0)) | ((center[:, axis] > limit) & (speed[:, axis] > 0))
            speed[outside, axis] *= -1
            usual[outside, axis] *= -1
        size = 1 + swell * np.sin(frame * step)
        sides = np.stack([width * size, height * size], axis=1)
        boxes[frame] = np.concatenate([center - sides / 2, sides], axis=1)
    return boxes, np.argsort(-(boxes[0, :, 1] + boxes[0, :, 3]), kind="stable")


def visible_shares(boxes, nearest_first, pillars):
    """Returns the visible share of each box, on a grid of 12 × 12 points in it."""
    shares, hiding = np.zeros(len(boxes)), list(pillars)
    places = (np.arange(12) + 0.5) / 12
    for index in nearest_first:
        x, y, width, height = boxes[index]
        across, down = np.meshgrid(x + places * width, y + places * height)
        seen = (across >= 0) & (across < WIDTH) & (down >= 0) & (down < HEIGHT)
        for left, top, w, h in hiding:
            seen &= ~((across >= left) & (across < left + w) & (down >= top) & (down < top + h))
        shares[index] = seen.mean()
        # A body covers the middle of its box.
        hiding.append((x + 0.1 * width, y, 0.8 * width, height))
    return shares


def detect(scenario, random, boxes, shares):
    """Returns what the simulated detector finds."""
    seen = random.random(len(boxes)) < np.clip((shares - 0.15) * 3, 0, 1) * (1 - scenario.missed)
    spread = scenario.noise * np.concatenate([boxes[:, 2:], boxes[:, 2:]], axis=1)
    # A box of which less is seen is less exact.
    noisy = boxes + random.normal(0, 1, boxes.shape) * spread * (1.5 - 0.5 * shares)[:, None]
    noisy[:, 2:] = np.maximum(noisy[:, 2:], 4)
    scores = np.clip(0.2 + 0.7 * shares + random.normal(0, 0.08, len(boxes)), 0.02, 0.99)
    count = random.poisson(scenario.false_boxes)
    heights = random.uniform(60, 240, count)
    wrong = np.stack([random.uniform(0, WIDTH, count), random.uniform(0, HEIGHT, count), 0.4 * heights, heights], axis=1)
    wrong_scores = np.clip(random.beta(2, 5, count), 0.05, 0.95)
    found = np.concatenate([np.column_stack([noisy, scores])[seen], np.column_stack([wrong, wrong_scores])])
    found = found[np.argsort(-found[:, 4], kind="stable")]
    kept = []
    overlap = overlaps(found, found)
    for index in range(len(found)):
        if all(overlap[index, other] <= MAXIMUM_OVERLAP for other in kept):
            kept.append(index)
    return found[kept]


def sequence(name, seed):
    """Returns the frames of a scenario."""
    scenario = SCENARIOS[name]
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    boxes, nearest_first = paths(scenario, random)
    pillars = [(random.uniform(0.15, 0.85) * WIDTH, 0, random.uniform(40, 110), HEIGHT) for _ in range(scenario.pillars)]
    frames, skipped = [], 0
    for index in range(scenario.frames):
        shares = visible_shares(boxes[index], nearest_first, pillars)
        found = detect(scenario, random, boxes[index], shares)
        if skipped > 0:
            skipped -= 1
            continue
        if scenario.dropped and random.random() < scenario.dropped:
            skipped = int(random.integers(1, 4)) - 1
            continue
        counted = np.flatnonzero(shares >= LEAST_VISIBLE)
        frames.append(Frame(index / scenario.rate, counted, boxes[index][counted], found))
    return frames
