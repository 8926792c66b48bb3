"""Models whose outputs are PoseNet's maps, seeded, and the poses in them, by an implementation in NumPy alone.

`random` has maps of noise, channels first, as Core ML's models leave them; `people` those of three people whose joints are
known, and `people_last` the same as TensorFlow's graphs do, scores before the logistic function. `lone` has no displacements.
Every model takes an image of 129 x 97 and leaves the same maps whatever it shows.

    pip install numpy==2.2.6 onnx==1.23.2 && python generate.py
    python generate.py MAPS.npz WIDTH HEIGHT      the poses of other maps (heatmap, offsets, fwd, bwd; channels first)
"""

import json
import math
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT, STRIDE = 129, 97, 16
PARTS = ("nose leftEye rightEye leftEar rightEar leftShoulder rightShoulder leftElbow rightElbow leftWrist rightWrist leftHip "
         "rightHip leftKnee rightKnee leftAnkle rightAnkle").split()
CHAIN = ("nose-leftEye leftEye-leftEar nose-rightEye rightEye-rightEar nose-leftShoulder leftShoulder-leftElbow "
         "leftElbow-leftWrist leftShoulder-leftHip leftHip-leftKnee leftKnee-leftAnkle nose-rightShoulder "
         "rightShoulder-rightElbow rightElbow-rightWrist rightShoulder-rightHip rightHip-rightKnee rightKnee-rightAnkle")
EDGES = [tuple(PARTS.index(name) for name in edge.split("-")) for edge in CHAIN.split()]
ROOT_SCORE, RADIUS, REFINEMENTS = 0.5, 20.0, 2


class Maps:
    """Scores [17, H, W], offsets [17, 2, H, W] and displacements [16, 2, H, W], y before x."""

    def __init__(self, scores, offsets, forward=None, backward=None, stride=STRIDE):
        self.scores, self.stride = np.asarray(scores, np.float64), stride
        self.rows, self.columns = scores.shape[1:]

        def pairs(array):
            return None if array is None else np.asarray(array, np.float64).reshape(2, -1, self.rows, self.columns)

        self.offsets, self.forward, self.backward = pairs(offsets), pairs(forward), pairs(backward)

    def cell(self, point):
        limits = (self.rows - 1, self.columns - 1)
        return tuple(min(max(math.floor(place / self.stride + 0.5), 0), limit) for place, limit in zip(point, limits))

    def place(self, part, cell):
        return np.array(cell) * self.stride + self.offsets[:, part, cell[0], cell[1]]


def single(maps):
    joints = []
    for part in range(17):
        cell = np.unravel_index(np.argmax(maps.scores[part]), maps.scores[part].shape)
        joints.append((*maps.place(part, cell), maps.scores[part][cell]))
    return [(np.mean([joint[2] for joint in joints]), joints)]


def candidates(maps):
    padded = np.pad(maps.scores, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    around = np.stack([padded[:, dy : dy + maps.rows, dx : dx + maps.columns] for dy in range(3) for dx in range(3)])
    is_root = (maps.scores >= around.max(axis=0)) & (maps.scores >= ROOT_SCORE)
    found = [(-maps.scores[part, y, x], y, x, part) for part, y, x in np.argwhere(is_root)]
    return sorted(found)


def step(maps, start, part, edge, displacements):
    y, x = maps.cell(start)
    point = np.array(start) + displacements[:, edge, y, x]
    for _ in range(REFINEMENTS):
        point = maps.place(part, maps.cell(point))
    y, x = maps.cell(point)
    return (*point, maps.scores[part, y, x])


def near(a, b):
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 <= RADIUS**2


def multiple(maps, limit=10):
    poses = []
    for score, y, x, part in candidates(maps):
        if len(poses) == limit:
            break
        root = (*maps.place(part, (y, x)), -score)
        if any(near(joints[part], root) for _, joints in poses):
            continue
        joints = {part: root}
        for edge in reversed(range(16)):
            parent, child = EDGES[edge]
            if child in joints and parent not in joints:
                joints[parent] = step(maps, joints[child][:2], parent, edge, maps.backward)
        for edge, (parent, child) in enumerate(EDGES):
            if parent in joints and child not in joints:
                joints[child] = step(maps, joints[parent][:2], child, edge, maps.forward)
        joints = [joints[part] for part in range(17)]
        own = [joint[2] for part, joint in enumerate(joints) if not any(near(other[part], joint) for _, other in poses)]
        poses.append((sum(own) / 17, joints))
    return poses


def document(poses):
    return [{"confidence": round(float(score), 6),
             "joints": {name: [round(float(v), 5) for v in (x, y, s)] for name, (y, x, s) in zip(PARTS, joints)}}
            for score, joints in poses]


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def noise(random):
    rows, columns = (HEIGHT - 1) // STRIDE + 1, (WIDTH - 1) // STRIDE + 1
    logits = (random.standard_normal((17, rows, columns)) * 1.5 - 2).astype(np.float32)
    return [logits] + [(random.standard_normal((n, rows, columns)) * s).astype(np.float32)
                       for n, s in ((34, 6), (32, 25), (32, 25))]


BODY = {"nose": (0, 0), "leftEye": (2, -2), "rightEye": (-2, -2), "leftEar": (4, -1), "rightEar": (-4, -1),
        "leftShoulder": (8, 9), "rightShoulder": (-8, 9), "leftElbow": (12, 20), "rightElbow": (-12, 20),
        "leftWrist": (13, 31), "rightWrist": (-14, 29), "leftHip": (5, 31), "rightHip": (-5, 31), "leftKnee": (6, 46),
        "rightKnee": (-5, 47), "leftAnkle": (6, 61), "rightAnkle": (-6, 62)}


def people(random):
    """Maps in which every cell near a joint of somebody knows where that joint is, and where his other joints are."""
    rows, columns = (HEIGHT - 1) // STRIDE + 1, (WIDTH - 1) // STRIDE + 1
    bodies = [np.array([[y * size + top, x * size + left] for x, y in BODY.values()])
              for left, top, size in ((26, 14, 1.1), (72, 24, 0.95), (108, 20, 0.8))]
    centers = np.stack(np.mgrid[0:rows, 0:columns], -1) * STRIDE
    logits = np.full((17, rows, columns), -6.0)
    offsets, moves = np.zeros((2, 17, rows, columns)), np.zeros((2, 2, 16, rows, columns))
    for part in range(17):
        distance = np.stack([np.hypot(*np.moveaxis(centers - body[part], -1, 0)) for body in bodies])
        owner = distance.argmin(axis=0)
        closest = np.stack(bodies)[owner, part]
        logits[part] = 4 - distance.min(axis=0) / 5 - 0.3 * owner
        offsets[:, part] = np.moveaxis(closest - centers, -1, 0)
        for edge, pair in enumerate(EDGES):
            for way in (0, 1):
                if pair[way] == part:
                    target = np.stack(bodies)[owner, pair[1 - way]]
                    moves[way][:, edge] = np.moveaxis(target - closest, -1, 0)
    maps = [logits, offsets.reshape(34, rows, columns), *(m.reshape(32, rows, columns) for m in moves)]
    truth = [{name: [float(x), float(y)] for name, (y, x) in zip(PARTS, body)} for body in bodies]
    return [m.astype(np.float32) for m in maps], truth


def write(name, maps, names, last=False, activated=True):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes = [helper.make_node("ReduceMean", ["pixels"], ["mean"], axes=[0, 1, 2, 3], keepdims=0),
             helper.make_node("Mul", ["mean", "zero"], ["nothing"])]
    values, outputs = [numpy_helper.from_array(np.float32(0), "zero")], []
    for output, array in zip(names, maps):
        array = (array.transpose(1, 2, 0) if last else array)[None].copy()
        values.append(numpy_helper.from_array(array, f"{output}_is"))
        raw = f"{output}_raw" if activated and output == names[0] else output
        nodes.append(helper.make_node("Add", [f"{output}_is", "nothing"], [raw]))
        if raw != output:
            nodes.append(helper.make_node("Sigmoid", [raw], [output]))
        outputs.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, array.shape))
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [1, 3, HEIGHT, WIDTH])], outputs, values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="")
    onnx.checker.check_model(model)
    onnx.save(model, HERE / f"{name}.onnx")


def main():
    random = np.random.default_rng(7)
    core_ml = ["heatmap", "offsets", "displacementFwd", "displacementBwd"]
    tensor_flow = ["float_heatmaps", "float_short_offsets", "displacement_fwd_2", "displacement_bwd_2"]
    noisy = noise(random)
    known, truth = people(random)
    write("random", noisy, core_ml)
    write("people", known, core_ml)
    write("people_last", known, tensor_flow, last=True, activated=False)
    write("lone", known[:2], core_ml[:2])
    expected = {"truth": truth}
    for name, maps in (("random", noisy), ("people", known)):
        decoded = Maps(sigmoid(maps[0]), *maps[1:])
        expected[name] = {"single": document(single(decoded)), "multiple": document(multiple(decoded))}
    assert len(expected["random"]["multiple"]) > 5
    # The implementation itself finds the people where they were put.
    assert len(expected["people"]["multiple"]) == len(truth)
    for found in expected["people"]["multiple"]:
        assert any(all(np.hypot(*np.subtract(found["joints"][n][:2], body[n])) < 1e-3 for n in PARTS) for body in truth)
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")


def other(path, width, height):
    arrays = np.load(path)
    rows, columns = arrays["heatmap"].shape[-2:]
    stride = next(s for s in (8, 16, 32) if (-(-height // s), -(-width // s)) == (rows, columns))
    maps = Maps(arrays["heatmap"], arrays["offsets"], arrays["fwd"], arrays["bwd"], stride)
    print(json.dumps({"single": document(single(maps)), "multiple": document(multiple(maps))}))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        other(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
