"""Members of zip archives, as users download them."""

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
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataFileError(f"{path} is not a whole zip archive ({error}); download it again.") from error
    raise DataFileError(f"{path} has no file {name!r}; download the original archive.")
