"""The list that the modules of architectures fill, and what they share."""
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
    """A PyTorch model, by the routes that it goes."""

    def __init__(self, name, make, routes):
        self.name, self.make, self.routes = name, make, routes

    def run(self, route):
        import routes
        model, inputs = routes.prepared(self.make)
        return routes.ROUTES[route](model, inputs)


class Direct:
    """What says by itself what Kelvin computes and what it should."""

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
    """Adds a function that gives what Kelvin computed and what it should have."""
    def add(work):
        CASES[name] = Direct(name, route, work)
        return work
    return add


def image(size):
    return torch.randn(1, 3, size, size)


def load():
    """Imports all modules of architectures, and the exporters: processes that are forked have them."""
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    # Exporters know no fused attention of PyTorch's own.
    torch.backends.mha.set_fastpath_enabled(False)
    for name in ("coremltools", "onnxscript", "vision", "sequences", "decoders", "classical"):
        importlib.import_module(name)
