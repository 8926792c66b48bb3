"""Makes coremltools find Kelvin in place of Apple's framework.

kelvin-coremltools.pth imports this module when Python starts, so it is small and does not import Kelvin. From then on
the module `coremltools.libcoremlpython`, which coremltools lacks outside macOS, is `kelvin.coremltools`, and
coremltools allows the functions that need a certain version of macOS.
"""
import importlib.abc
import importlib.machinery
import importlib.util
import sys

_MISSING = "coremltools.libcoremlpython"
_GATED = "coremltools.models.utils"


class _Alias(importlib.abc.Loader):
    """Loads one module as another."""

    def create_module(self, spec):
        return importlib.import_module("kelvin.coremltools")

    def exec_module(self, module):
        pass


class _Opened(importlib.abc.Loader):
    """Loads the module that checks the version of macOS, and replaces its version."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        # The first version with all functions that coremltools checks for.
        module._macos_version = lambda: (15, 0)
        module._is_macos = lambda: True

    def __getattr__(self, name):
        return getattr(self._loader, name)


class Finder(importlib.abc.MetaPathFinder):
    """Finds both modules, on Linux only."""

    def find_spec(self, name, path=None, target=None):
        if name == _MISSING:
            # Apple's own module has priority if it exists.
            if importlib.machinery.PathFinder.find_spec(name, path) is not None:
                return None
            return importlib.util.spec_from_loader(name, _Alias())
        if name == _GATED:
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            if spec is not None and spec.loader is not None:
                spec.loader = _Opened(spec.loader)
            return spec
        return None


def install():
    """Inserts the finder once, before all others."""
    if sys.platform == "linux" and not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
