"""The exceptions that mcquack raises on purpose; each also is the built-in that callers expect."""


class McQuackError(Exception):
    """Base of all: ``except McQuackError`` catches what the package itself refuses."""


class InvalidInputError(McQuackError, ValueError):
    """An argument, setting or data value that cannot be used; the message says what to do."""


class InvalidTableError(InvalidInputError):
    """A CSV or Parquet file, or a column or row of it, that cannot be used."""


class ModelFileError(McQuackError, ValueError):
    """A model or checkpoint file that is broken, hostile, or of another version."""


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


class SubstitutedDataWarning(UserWarning):
    """The original data was out of reach, and what took its place differs from it as the message says."""
