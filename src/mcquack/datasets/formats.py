"""Arrays in the idx format, in which MNIST and its kin are published, and where MNIST itself is."""

import gzip
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.files import DataFile, Source
from mcquack.errors import DataFileError

IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_UNSIGNED_BYTES = 0x08


def idx_array(path: Path) -> NDArray[np.uint8]:
    """The array in an idx file of bytes, which may be gzipped."""
    content = path.read_bytes()
    try:
        content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataFileError(
            f"{path} is not a whole gzip file ({error}); remove it, so that it is fetched anew."
        ) from error
    return idx_content(content, source=str(path))


def idx_content(content: bytes, *, source: str) -> NDArray[np.uint8]:
    """The array in the bytes of an idx file: 0, 0, type, rank, then the shape in big-endian words, then the values."""
    rank = content[3] if len(content) > 3 else 0
    n_header = 4 + 4 * rank
    shape = tuple(np.frombuffer(content[4:n_header], ">u4").tolist()) if len(content) >= n_header else ()
    if content[:3] != bytes([0, 0, _UNSIGNED_BYTES]) or not shape or len(content) != n_header + int(np.prod(shape)):
        raise DataFileError(f"{source} is not a whole idx file of bytes; remove it, so that it is fetched anew.")
    return np.frombuffer(content, np.uint8, offset=n_header).reshape(shape)


def idx_sources(
    title: str, *, base_url: str, folder: str, compressed: tuple[str, ...], plain: tuple[str, ...]
) -> tuple[Source, ...]:
    """The four files of a dataset, gzipped to download or unpacked by the user, with their checksums."""
    zipped = tuple(
        DataFile(name=f"{name}.gz", folder=folder, checksum=checksum, url=f"{base_url}/{name}.gz")
        for name, checksum in zip(IDX_NAMES, compressed, strict=True)
    )
    unpacked = tuple(
        DataFile(name=name, folder=folder, checksum=checksum) for name, checksum in zip(IDX_NAMES, plain, strict=True)
    )
    return (
        Source(title=title, files=zipped, read=idx_images_and_labels, homepage=base_url),
        Source(title=f"{title}, unpacked", files=unpacked, read=idx_images_and_labels, homepage=base_url),
    )


def idx_images_and_labels(*paths: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """All pictures (N, height, width) and their labels, training files before test files."""
    train_images, train_labels, test_images, test_labels = map(idx_array, paths)
    return np.concatenate([train_images, test_images]), np.concatenate([train_labels, test_labels])


# The folders are those of torchvision, whose downloads can so be used as they are.
MNIST = idx_sources(
    "MNIST",
    base_url="https://ossci-datasets.s3.amazonaws.com/mnist",
    folder="MNIST/raw",
    compressed=(
        "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "md5:d53e105ee54ea40749a09fcbcd1e9432",
        "md5:9fb629c4189551a2d022fa330f9573f3",
        "md5:ec29112dd5afa0611ce80d1b7f02629c",
    ),
    plain=(
        "sha256:ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "sha256:65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "sha256:0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "sha256:ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
)
FASHION_MNIST = idx_sources(
    "Fashion-MNIST",
    base_url="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    folder="FashionMNIST/raw",
    compressed=(
        "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "md5:25c81989df183df01b3e8a0aad5dffbe",
        "md5:bef4ecab320f06d8554ea6380940ec79",
        "md5:bb300cfdad3c16e7a12a480ee83cd310",
    ),
    plain=(
        "sha256:c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "sha256:bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "sha256:5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "sha256:0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
)


# Arrays in NumPy's zip archives.


def npz_arrays(path: Path, *names: str) -> tuple[NDArray[Any], ...]:
    """Arrays of an npz file by name; nothing in it is executed."""
    try:
        # Opened here, since NumPy would leave a broken archive open.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return tuple(file[name] for name in names)
    except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataFileError(f"{path} cannot be read ({error}); replace it by the original file.") from error


# Members of archives, as users download them.


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
