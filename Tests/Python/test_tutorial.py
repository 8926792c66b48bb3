"""The conversion tutorial as users have it: a PyTorch model is converted, predicts, is palettized, and is compared."""
import importlib.util
import os
import tempfile
import unittest

import numpy as np

MISSING = [name for name in ("torch", "coremltools", "PIL") if importlib.util.find_spec(name) is None]
LABELS = ["circle", "cross", "square", "triangle"]


if not MISSING:
    # The wheel does this at every start of Python. It must precede all tests, because other modules may import coremltools.
    import _kelvin_coremltools
    _kelvin_coremltools.install()


def setUpModule():
    if MISSING:
        raise unittest.SkipTest(f"python has no {', '.join(MISSING)}")


def network():
    """A small convolutional network of fixed weights, which ends in a share for each label."""
    import torch
    from torch import nn
    torch.manual_seed(0)
    layers = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1, groups=16), nn.Hardswish(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, len(LABELS)),
        nn.Softmax(dim=1))
    return layers.eval()


def converted(**options):
    import coremltools as ct
    import torch
    example = torch.rand(1, 3, 32, 32)
    with torch.no_grad():
        traced = torch.jit.trace(network(), example)
    return ct.convert(traced, minimum_deployment_target=ct.target.iOS17, **options)


def tensors(precision="FLOAT32"):
    import coremltools as ct
    return converted(
        inputs=[ct.TensorType("pixels", shape=(1, 3, 32, 32))], outputs=[ct.TensorType("shares")],
        compute_precision=getattr(ct.precision, precision))


def pixels():
    return np.random.default_rng(0).random((1, 3, 32, 32)).astype(np.float32)


def by_torch(array):
    import torch
    with torch.no_grad():
        return network()(torch.from_numpy(array)).numpy()


class Tutorial(unittest.TestCase):
    def test_a_converted_model_gives_what_pytorch_gives(self):
        for precision, error in (("FLOAT32", 1e-6), ("FLOAT16", 2e-3)):
            with self.subTest(precision):
                result = tensors(precision).predict({"pixels": pixels()})["shares"]
                np.testing.assert_allclose(result, by_torch(pixels()), atol=error)

    def test_a_batch_is_its_items(self):
        model = tensors()
        items = [pixels() * share for share in (0.25, 0.5, 1)]
        results = model.predict([{"pixels": item} for item in items])
        np.testing.assert_allclose([result["shares"][0] for result in results], [by_torch(item)[0] for item in items], atol=1e-6)

    def test_a_classifier_of_images_names_what_pytorch_names(self):
        import coremltools as ct
        from PIL import Image
        model = converted(
            inputs=[ct.ImageType("image", shape=(1, 3, 32, 32), scale=1 / 255)],
            classifier_config=ct.ClassifierConfig(LABELS), compute_precision=ct.precision.FLOAT32)
        image = Image.fromarray(np.random.default_rng(1).integers(0, 256, (32, 32, 3), np.uint8))
        expected = by_torch((np.asarray(image, np.float32) / 255).transpose(2, 0, 1)[None])[0]
        result = model.predict({"image": image})
        self.assertEqual(result["classLabel"], LABELS[int(expected.argmax())])
        shares = next(value for value in result.values() if isinstance(value, dict))
        np.testing.assert_allclose([shares[label] for label in LABELS], expected, atol=1e-6)

    def test_a_saved_model_is_read_again(self):
        import coremltools as ct
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "Shapes.mlpackage")
            tensors().save(path)
            result = ct.models.MLModel(path).predict({"pixels": pixels()})["shares"]
        np.testing.assert_allclose(result, by_torch(pixels()), atol=1e-6)

    def test_compressed_weights_are_smaller_and_give_what_they_stand_for(self):
        import coremltools.optimize.coreml as cto
        model = tensors()
        ways = {
            "palettized": (cto.palettize_weights, cto.OpPalettizerConfig(mode="kmeans", nbits=6, weight_threshold=64), 3e-2),
            "quantized": (cto.linear_quantize_weights, cto.OpLinearQuantizerConfig(weight_threshold=64), 1e-2),
            "pruned": (cto.prune_weights, cto.OpMagnitudePrunerConfig(target_sparsity=0.25, weight_threshold=64), 1e-1),
        }
        for name, (compress, how, error) in ways.items():
            with self.subTest(name):
                smaller = compress(model, cto.OptimizationConfig(global_config=how))
                self.assertLess(weight_bytes(smaller), weight_bytes(model))
                result = smaller.predict({"pixels": pixels()})["shares"]
                plain = cto.decompress_weights(smaller).predict({"pixels": pixels()})["shares"]
                np.testing.assert_allclose(result, plain, atol=1e-6)
                np.testing.assert_allclose(result, by_torch(pixels()), atol=error)

    def test_what_is_converted_from_an_exported_program_is_the_same(self):
        import coremltools as ct
        import torch
        program = torch.export.export(network(), (torch.from_numpy(pixels()),)).run_decompositions({})
        model = ct.convert(program, compute_precision=ct.precision.FLOAT32)
        given = {model.input_description._fd_spec[0].name: pixels()}
        np.testing.assert_allclose(next(iter(model.predict(given).values())), by_torch(pixels()), atol=1e-6)


def weight_bytes(model):
    return os.path.getsize(os.path.join(model.weights_dir, "weight.bin"))


if __name__ == "__main__":
    unittest.main()
