import hashlib

import pytest

from mcquack.datasets import Description, from_arrays, register, registry
from mcquack.datasets.files import DataFile, Source
from tests.datasets.files.http_server import CONTENT, serving


@pytest.fixture
def datasets(mcquack):
    """Runs one of the verbs."""
    return lambda verb, *arguments: mcquack("datasets", verb, *arguments)


@pytest.fixture
def server(monkeypatch):
    """A server on this machine, and leave to ask it."""
    monkeypatch.delenv("MCQUACK_OFFLINE")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")
    with serving() as script:
        yield script


@pytest.fixture
def registered(monkeypatch):
    """Registers datasets for the length of a test."""
    monkeypatch.setattr(registry, "_own", {})

    def add(name, *sources, dataset=None):
        data = dataset or from_arrays([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
        description = Description(
            name=name,
            title=name.title(),
            task="telling a from b",
            class_names=data.class_names,
            n_features=data.n_features,
            image_shape=data.image_shape,
            sizes={part: len(samples.y) for part, samples in data.parts.items()},
            sources=sources,
        )
        register(description)(lambda _request: data)
        return description

    return add


@pytest.fixture
def source():
    """Makes a source of one file, which the server gives for any address."""

    def make(name="file.bin", *, url=None, homepage=""):
        checksum = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
        file = DataFile(name=name, folder="some", checksum=checksum, n_bytes=len(CONTENT), url=url)
        return Source(title=f"all of {name}", files=(file,), read=str, homepage=homepage)

    return make
