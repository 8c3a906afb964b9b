"""Members of archives, as users download them."""

import gzip
import zipfile
import zlib
from pathlib import Path

from mcquack.errors import DataFileError


def zip_member(path: Path, name: str) -> bytes:
    """The content of the member with this file name, in whatever folder of the archive it is."""
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if member.rpartition("/")[2] == name:
                    return archive.read(member)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # the last also where it is encrypted
        raise DataFileError(f"{path} is not a whole, plain zip archive ({error}); download it again.") from error
    raise DataFileError(f"{path} has no file {name!r}; download the original archive.")


def gunzipped_member(path: Path, name: str) -> bytes:
    """The content of a gzip file in a zip archive."""
    try:
        return gzip.decompress(zip_member(path, name))
    except (OSError, EOFError, zlib.error) as error:
        raise DataFileError(f"{name} in {path} is not a whole gzip file ({error}); download it again.") from error
