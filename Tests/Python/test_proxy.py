"""The native module for coremltools with damaged models and odd values: each call ends in a result or in a RuntimeError.

The calls run in a separate process, because a fault may end it. The last line of its output names the call.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = (
    "Tests/CompressedWeights", "Tests/Vectors/Layers", "Tests/Vectors/MIL", "Tests/Vectors/MILControl", "Tests/Vectors/Parts",
    "Tests/Vision")
TRIALS = int(os.environ.get("KELVIN_PROXY_TRIALS", 40))


def mutated(random, content):
    """Returns bytes with a bit, a number or a part of them changed, or with their end cut off."""
    changed = bytearray(content)
    for _ in range(random.randint(1, 3)):
        place = random.randrange(len(changed))
        kind = random.randrange(5)
        if kind == 0:
            changed[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            changed[place:place + 4] = random.choice((b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\x80", b"ios99", b"\x01"))
        elif kind == 2:
            del changed[place:place + random.randint(1, 16)]
        elif kind == 3:
            changed[place:place] = changed[place:place + random.randint(1, 16)]
        elif random.random() < 0.2:
            del changed[place:]
        if not changed:
            return b"\0"
    return bytes(changed)


def sources():
    """Specifications by folder, each with the folder of its weights or None."""
    groups = []
    for folder in MODELS:
        found = []
        for path in sorted((ROOT / folder).rglob("*.mlmodel")):
            if path.stat().st_size < 1 << 14:
                weights = path.parent / "weights"
                found.append((path.read_bytes(), weights if weights.exists() else None))
        groups.append(found)
    return groups


def odd_value(random, feature):
    import numpy as np
    shape = tuple(feature.shape or ())
    return random.choice((
        None, b"\xff", "text", 1 << 70, float("nan"), [], {}, [[1], [2, 3]], {"a": float("inf")}, {1: 2, "b": "c"}, object(),
        np.zeros(shape, "f4"), np.full(shape, 1e300), np.full(shape, np.nan, "f2"), np.zeros(shape, "i8"),
        np.zeros((0,)), np.zeros((2,) * 9, "f4"), np.zeros(shape, "S3"), np.zeros(shape, object), np.zeros(shape, "U2"),
        np.zeros(shape, ">f4"), np.array(7), np.zeros(shape, complex)))


def predict(random, model):
    """Predicts with odd values for some of the inputs, and as a batch."""
    data = {name: odd_value(random, feature) for name, feature in model._model.inputs.items()}
    if random.random() < 0.3:
        data["absent"] = 1
    for call in (lambda: model.predict(data), lambda: model.batchPredict([data, {}])):
        ends_well(call)


def ends_well(call):
    try:
        return call()
    except RuntimeError as error:
        assert str(error), "an error without words"
        return None


def calls(random, specification, weights, folder):
    """Passes a model through every function that reads one."""
    from kelvin import coremltools as proxy
    files = {f"weights/{path.name}": path.read_bytes() for path in weights.iterdir()} if weights else {}
    yield "load from memory"
    asset = ends_well(lambda: proxy._MLModelProxy.create_model_asset_from_memory(specification, files))
    model = asset and ends_well(lambda: proxy._MLModelProxy("", "CPU_ONLY", asset=asset))
    if model is not None:
        yield "predict"
        predict(random, model)
    path = str(folder / "model.mlmodel")
    pathlib.Path(path).write_bytes(specification)
    yield "load from a file"
    ends_well(lambda: proxy._MLModelProxy(path, "CPU_ONLY"))
    yield "compile"
    ends_well(lambda: proxy._MLModelProxy.compileModel(path))
    yield "structure"
    ends_well(lambda: proxy._MLModelProxy.get_model_structure(path))
    yield "plan"
    ends_well(lambda: proxy._MLModelProxy.get_compute_plan(path, "CPU_ONLY"))


def run():
    """Makes all calls, and prints each before it begins."""
    import random as randomness
    import tempfile
    import _kelvin_coremltools
    _kelvin_coremltools.install()
    groups = sources()
    assert all(groups), groups
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        for trial in range(TRIALS):
            random = randomness.Random(trial)
            specification, weights = random.choice(random.choice(groups))
            if random.random() < 0.8:
                specification = mutated(random, specification)
            for call in calls(random, specification, weights, pathlib.Path(folder)):
                print(f"trial {trial}: {call}", flush=True)
    print("done")


class Proxy(unittest.TestCase):
    def test_numbers_that_do_not_fit_are_refused(self):
        import kelvin
        from kelvin.values import Features
        features = Features()
        for value, words in (
                (1 << 70, "64 bits"), (-2**63 - 1, "65 bits"), ({"a": 1 << 2000}, "expected a number"), ({"a": "1.5"}, "str"),
                ({1 << 64: 1.0}, "64 bits"), ([1, 1 << 63], "64 bits")):
            with self.subTest(value), self.assertRaisesRegex(kelvin.FeatureError, words):
                features.set("x", value)
        features.set("x", 2**63 - 1)
        self.assertEqual(features.get("x"), 2**63 - 1)

    @unittest.skipUnless(importlib.util.find_spec("coremltools"), "python has no coremltools")
    def test_damaged_models_and_odd_values_end_in_a_result_or_an_error(self):
        result = subprocess.run(
            [sys.executable, "-c", "import test_proxy; test_proxy.run()"], capture_output=True, text=True, timeout=600,
            cwd=pathlib.Path(__file__).parent, env={**os.environ, "PYTHONFAULTHANDLER": "1"})
        last = result.stdout.splitlines()[-1:]
        self.assertEqual((result.returncode, last), (0, ["done"]), result.stderr[-4000:])


if __name__ == "__main__":
    unittest.main()
