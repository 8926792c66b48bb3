"""The list that the modules of architectures fill, and their shared types."""
import importlib
import logging
import os
import warnings

import torch

CORE_ML = ("mlprogram32", "mlprogram16")
ONNX = ("onnx", "onnx-dynamo")
ALL = CORE_ML + ONNX
#: Weights are compressed in those that have the layers that compressions know.
COMPRESSED = ALL + ("int8", "palettized", "pruned")
CASES = {}


class Architecture:
    """A PyTorch model, with its routes."""

    def __init__(self, name, make, routes):
        self.name, self.make, self.routes = name, make, routes

    def run(self, route):
        import routes
        model, inputs = routes.prepared(self.make)
        return routes.ROUTES[route](model, inputs)


class Direct:
    """A case that returns Kelvin's result and the expected one itself."""

    def __init__(self, name, route, work):
        self.name, self.routes, self.work = name, (route,), work

    def run(self, route):
        torch.manual_seed(0)
        return self.work()


def architecture(name, routes=ALL):
    """Adds a function that makes a model and a tuple of its inputs."""
    def add(make):
        CASES[name] = Architecture(name, make, routes)
        return make
    return add


def direct(name, route):
    """Adds a function that returns Kelvin's result and the expected one."""
    def add(work):
        CASES[name] = Direct(name, route, work)
        return work
    return add


def image(size):
    return torch.randn(1, 3, size, size)


def load():
    """Imports all modules of architectures, and the exporters, so that forked processes have them."""
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    # Exporters do not support PyTorch's fused attention.
    torch.backends.mha.set_fastpath_enabled(False)
    for name in ("coremltools", "onnxscript", "vision", "sequences", "decoders", "classical"):
        importlib.import_module(name)
