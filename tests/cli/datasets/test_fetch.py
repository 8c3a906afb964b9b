import pytest

from mcquack.datasets.files import download as transfer
from tests.datasets.files.http_server import CONTENT, Answer


def test_files_arrive_once_and_are_there_from_then_on(datasets, registered, source, server, tmp_path):
    registered("remote", source(url=server.url))
    registered("sibling", source(url=server.url))
    outcome = datasets("fetch", "remote", "sibling", "iris3")
    assert outcome.code == 0
    arrived = next((tmp_path / "cache").rglob("file.bin"))
    assert arrived.read_bytes() == CONTENT
    assert outcome.out.splitlines() == [
        f"remote   downloaded, {arrived}",
        f"sibling  downloaded, {arrived}",
        "iris3    built in, needs no files",
    ]
    assert outcome.err == "Downloading remote (300.0 kB) …\n"
    again = datasets("fetch", "remote")
    assert again.out == f"remote  cached, {arrived}\n"
    assert again.err == ""
    assert len(server.asked) == 1


def test_files_of_the_user_are_verified_and_left_where_they_are(datasets, registered, source, tmp_path):
    registered("remote", source())
    path = tmp_path / "some" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    assert datasets("fetch", "remote", "--data-dir", tmp_path).out == f"remote  local, {path}\n"
    path.write_bytes(b"other")
    outcome = datasets("fetch", "remote", "--data-dir", tmp_path)
    assert outcome.code == 1
    assert f"{path} is not the file.bin that was expected" in outcome.err


def test_a_failure_costs_no_others_and_is_told_once(datasets, registered, source, server):
    registered("lost", source(url=server.url))
    registered("alike", source(url=server.url))
    registered("closed", source("form.zip", homepage="https://example.org/form"))
    registered("found", source("found.bin", url=f"{server.base}/found.bin"))
    server.answers.append(Answer(status=404))
    outcome = datasets("fetch", "--suite", "own")
    assert outcome.code == 1
    outcomes = dict(line.split(maxsplit=1) for line in outcome.out.splitlines())
    assert outcomes["lost"] == "failed"
    assert outcomes["alike"] == "failed, like lost"
    assert outcomes["closed"] == "failed"
    assert outcomes["found"].startswith("downloaded, ")
    assert outcome.err.count("404 Not Found") == 1
    assert "form.zip, by hand from https://example.org/form" in outcome.err
    assert outcome.err.endswith("mcquack: 3 of 4 could not be fetched: lost, alike, closed.\n")


def test_without_leave_to_download_nobody_is_asked(datasets, registered, source, server, monkeypatch):
    monkeypatch.setenv("MCQUACK_OFFLINE", "1")
    registered("remote", source(url=server.url))
    outcome = datasets("fetch", "remote")
    assert outcome.code == 1
    assert "Downloading" not in outcome.err
    assert "MCQUACK_OFFLINE=1 forbids" in outcome.err
    assert not server.asked


def test_an_interrupted_fetch_goes_on_where_it_stopped(datasets, registered, source, server, monkeypatch):
    def interrupted(_seconds):
        raise KeyboardInterrupt

    registered("remote", source(url=server.url))
    server.answers.append(Answer(n_bytes=100_000))
    with monkeypatch.context() as patch:
        patch.setattr(transfer.time, "sleep", interrupted)
        stopped = datasets("fetch", "remote")
    assert stopped.code == 130
    assert stopped.err.splitlines()[-1].startswith("mcquack: interrupted; what has arrived is kept")
    assert datasets("fetch", "remote").code == 0
    assert server.ranges == [None, "bytes=100000-"]


@pytest.mark.parametrize("choice", [["--suite", "extra"], ["--all"]])
def test_many_at_once(datasets, data_dir, choice):
    outcome = datasets("fetch", *choice, "--data-dir", data_dir)
    assert outcome.code == 0
    assert outcome.err == ""
    assert {line.split()[1].strip(",") for line in outcome.out.splitlines()} == {"local", "built"}
