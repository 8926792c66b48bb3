"""A compiled model's text says what the specification says that it was written from: both are planned alike and predict equally."""
import importlib.util
import os
import pathlib
import shutil
import tempfile
import unittest

import numpy as np

MISSING = [name for name in ("coremltools",) if importlib.util.find_spec(name) is None]
ROOT = pathlib.Path(__file__).parents[2]
#: But for those that make up other numbers at every run.
PACKAGES = sorted(
    path for folder in ("Tests", "Examples") for path in (ROOT / folder).rglob("*.mlpackage") if path.stem != "random")
SHARED = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT / "../shared")) / "models"


def setUpModule():
    if MISSING:
        raise unittest.SkipTest(f"python has no {', '.join(MISSING)}")


def compiled(package, folder):
    """A folder as Core ML compiles the package's program into, its description left out."""
    from coremltools.proto import Model_pb2
    from kelvin import mil_text
    place = pathlib.Path(folder) / f"{package.stem}.mlmodelc"
    place.mkdir()
    data = package / "Data/com.apple.CoreML"
    model = Model_pb2.Model.FromString(next(data.glob("*.mlmodel")).read_bytes())
    (place / "model.mil").write_text(mil_text.text(model.mlProgram), encoding="utf-8")
    weights = data / "weights"
    if weights.exists():
        shutil.copytree(weights, place / "weights")
    return place


def made_up(model, seed):
    """An array for each input of a model; None where one is no array of known sizes."""
    random = np.random.default_rng(seed)
    inputs = {}
    for name, feature in model.inputs.items():
        if feature.type != "multiArray" or feature.shape is None:
            return None
        inputs[name] = random.uniform(0, 2, feature.shape).astype(feature.dtype)
    return inputs


class Compiled(unittest.TestCase):
    def check(self, package):
        """Whether both predict, and so were compared."""
        import kelvin
        with tempfile.TemporaryDirectory() as folder:
            own = kelvin.Model(compiled(package, folder), units="cpu")
            model = kelvin.Model(package, units="cpu")
            inputs = made_up(own, 1)
            try:
                self.assertEqual(
                    [node["name"] for node in own.plan().document["nodes"]],
                    [node["name"] for node in model.plan().document["nodes"]])
            except kelvin.FeatureError:
                # Of sizes that only a prediction gives: without a description none are usual.
                return False
            if inputs is None or set(own.outputs) != set(model.outputs):
                return False
            states = [each.make_state() if each.description.states else None for each in (own, model)]
            expected = model.predict(inputs, state=states[1])
            for name, value in own.predict(inputs, state=states[0]).items():
                np.testing.assert_array_equal(value, expected[name], f"{package.name}, {name}")
            return True

    def test_every_program_of_the_project_as_text(self):
        compared = []
        for package in PACKAGES:
            with self.subTest(package.name):
                compared.append(self.check(package))
        self.assertGreater(len(compared), 20)
        self.assertGreater(sum(compared), 15)

    @unittest.skipUnless(SHARED.exists(), "no shared models")
    def test_real_programs_as_text(self):
        for name in ("MobileNetV2_f16", "MobileNetV2_int8", "MobileNetV2_pal6"):
            with self.subTest(name):
                self.check(SHARED / f"{name}.mlpackage")


if __name__ == "__main__":
    unittest.main()
