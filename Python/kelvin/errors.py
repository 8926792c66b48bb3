"""What goes wrong, each with what was expected, what was given and the remedy."""


class KelvinError(Exception):
    """Any failure of Kelvin's."""


class FileError(KelvinError, OSError):
    """A file cannot be read, or is not what it claims to be."""

    # OSError takes its text apart; this one is a sentence.
    def __str__(self) -> str:
        return Exception.__str__(self)


class UnsupportedError(KelvinError, NotImplementedError):
    """The model needs something that Kelvin does not have."""


class FeatureError(KelvinError, ValueError):
    """A feature is missing, unknown, or of the wrong type, shape or size."""


class ParameterError(KelvinError, ValueError):
    """What was asked for does not fit the model or the machine, or means nothing."""


class DeviceError(KelvinError, RuntimeError):
    """A device is absent or failed."""


class CancelledError(KelvinError):
    """The call was cancelled."""


class LimitError(KelvinError, MemoryError):
    """The model reached a limit of time or memory that was set for it."""


class InternalError(KelvinError, RuntimeError):
    """A fault of Kelvin's own, or of the machine."""


class HandleError(KelvinError, RuntimeError):
    """An object that was closed is used, or one from the process that this one was forked from."""


_BY_CODE = {
    1: FileError, 2: UnsupportedError, 3: FeatureError, 4: ParameterError, 5: DeviceError, 6: CancelledError,
    7: LimitError, 8: InternalError, 9: HandleError,
}


def error(code: int, text: str) -> KelvinError:
    """The exception for a code of kelvin.h."""
    return _BY_CODE.get(code, InternalError)(text)
