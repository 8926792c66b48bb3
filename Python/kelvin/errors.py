"""Exceptions. Each message has the expected value, the actual value and a remedy."""


class KelvinError(Exception):
    """The base class of Kelvin's exceptions."""


class FileError(KelvinError, OSError):
    """A file cannot be read, or is not a valid file of its format."""

    # OSError formats its arguments; this message is a complete sentence.
    def __str__(self) -> str:
        return Exception.__str__(self)


class UnsupportedError(KelvinError, NotImplementedError):
    """The model needs a feature that Kelvin does not support."""


class FeatureError(KelvinError, ValueError):
    """A feature is missing, unknown, or of the wrong type, shape or size."""


class ParameterError(KelvinError, ValueError):
    """The request is invalid, or does not fit the model or the machine."""


class DeviceError(KelvinError, RuntimeError):
    """A device is missing or failed."""


class CancelledError(KelvinError):
    """The call was cancelled."""


class LimitError(KelvinError, MemoryError):
    """The model reached a limit of time or memory that the caller set."""


class InternalError(KelvinError, RuntimeError):
    """An internal error of Kelvin, or a failure of the machine."""


class HandleError(KelvinError, RuntimeError):
    """The object is closed, or belongs to the process that this one was forked from."""


_BY_CODE = {
    1: FileError, 2: UnsupportedError, 3: FeatureError, 4: ParameterError, 5: DeviceError, 6: CancelledError,
    7: LimitError, 8: InternalError, 9: HandleError,
}


def error(code: int, text: str) -> KelvinError:
    """Returns the exception for a code of kelvin.h."""
    return _BY_CODE.get(code, InternalError)(text)
