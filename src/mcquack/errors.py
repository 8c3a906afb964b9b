"""The exceptions that mcquack raises on purpose; each also is the built-in that callers expect."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Marks that turn the direction of text around, part lines or cannot be seen: what is shown is not what is there.
_MISLEADING = frozenset("\u061c\u200b\u200e\u200f\u2028\u2029\u2060\ufeff") | {
    chr(code)
    for first, last in ((0x202A, 0x202E), (0x2066, 0x206F), (0xE0000, 0xE007F))
    for code in range(first, last + 1)
}


def printable(text: object, *, keep: str = "") -> str:
    r"""The text with an escape, as Python writes it, for all that would act on a terminal or mislead who reads it.

    Control characters, half surrogate pairs, and marks that reverse or hide text may be in names and labels out of any
    file. Those in ``keep`` stay.

    >>> print(printable("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    told = str(text)
    if told.isascii() and told.isprintable():
        return told
    return "".join(
        each if each in keep or not _acts(each) else each.encode("unicode_escape").decode("ascii") for each in told
    )


def _acts(character: str) -> bool:
    return character in _MISLEADING or unicodedata.category(character) in ("Cc", "Cs")


@dataclass(frozen=True)
class Setting:
    """A setting that a message names, with the value that the message recommends, if any.

    >>> print(Setting("max_error"), Setting("missing", "mean"))
    max_error missing='mean'
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class _Message:
    """A message, given in parts where it names settings: a command line calls these by other names.

    It may quote a file that nobody has vouched for, so it is printed without what could act on a terminal.
    """

    args: tuple[Any, ...]

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that the message names, in its order."""
        return tuple(part for part in self.args if isinstance(part, Setting))

    @property
    def setting(self) -> str | None:
        """The name of the first of the settings, None if there are none."""
        return self.settings[0].name if self.settings else None

    def written(self, write: Callable[[Setting], str] = str) -> str:
        """Return the message with each setting as ``write`` writes it.

        >>> error = InvalidInputError("fill them with ", Setting("missing", "mean"), ".")
        >>> error.written(lambda setting: f"--{setting.name} {setting.value}")
        'fill them with --missing mean.'
        """
        parts = self.args if self.settings else (super().__str__(),)
        return printable("".join(write(part) if isinstance(part, Setting) else str(part) for part in parts), keep="\n")

    def __str__(self) -> str:
        return self.written()


class McQuackError(_Message, Exception):
    """Base of all: ``except McQuackError`` catches what the package itself refuses."""


class McQuackWarning(_Message, UserWarning):
    """Base of all warnings of the package."""


class InvalidInputError(McQuackError, ValueError):
    """An argument, setting or data value that cannot be used; the message says what to do."""


class InvalidTableError(InvalidInputError):
    """A CSV or Parquet file, or a column or row of it, that cannot be used."""


class ModelFileError(McQuackError, ValueError):
    """A model or checkpoint file that is broken, hostile, or of another version."""


class UnsavedModelError(McQuackError, OSError):
    """A trained model that could not be written; the message tells what its file holds now."""


class MemoryLimitError(McQuackError, MemoryError):
    """A computation that would not fit into memory; raised before anything is allocated."""


class UnknownDatasetError(InvalidInputError):
    """A dataset name that nobody registered."""


class MissingDataError(McQuackError, FileNotFoundError):
    """Files of a dataset that are neither on this machine nor could be fetched; the message says how to get them.

    ``reason`` tells in half a sentence why they could not be had.
    """

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class MissingDependencyError(McQuackError, ImportError):
    """A package that is not installed and without which a file cannot be read; the message says how to get it."""


class DataFileError(McQuackError, ValueError):
    """A file of a dataset that is broken, or not the one that its checksum promises."""


class DownloadError(McQuackError, ConnectionError):
    """A file that could not be downloaded now, although its address is known."""


class StoreError(McQuackError, OSError):
    """A result store that cannot be opened, read or written; the message says what is safe and what to do."""


class StoreBusyError(StoreError):
    """A result store that another process is writing."""


class WorkerLostError(McQuackError, RuntimeError):
    """A process that died with its task, or workers that cannot be reached any more; what was finished is stored."""


class LayoutError(McQuackError, ValueError):
    """A ring that the couplers of a device do not have; the message says which they do."""


class DeviceError(McQuackError, RuntimeError):
    """A device, or the service that runs it, that refused or failed; what was measured before is stored."""


class AccountError(DeviceError):
    """No account with which to reach a device, or one that it does not accept."""


class LostJobError(DeviceError):
    """A job that the service does not know, or no longer."""


class ShotBudgetError(McQuackError, RuntimeError):
    """Measurements that would exceed the number of shots that may be spent; nothing was sent."""


class TimeBudgetError(McQuackError, TimeoutError):
    """A fit that took longer than it may, and was ended."""


class SubstitutedDataWarning(McQuackWarning):
    """The original data was out of reach, and what took its place differs from it as the message says."""


class NotationWarning(McQuackWarning):
    """Text that is taken as categories, and looks like numbers or dates in another notation than it is read by."""


class CheckpointWarning(McQuackWarning):
    """A model in training that could not be written; training goes on, and the next checkpoint tries again."""


class CompiledCodeWarning(McQuackWarning):
    """Compiled code that could not be kept on disk: it runs, and the next process has to compile it again."""


class LayoutWarning(McQuackWarning):
    """A circuit for a device that has no ring of so many qubits, or none without faults.

    The message names the nearest numbers of qubits that there are rings of, or what a simulation puts in the place of
    faults.
    """
