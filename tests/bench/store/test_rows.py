import json
import math
import sqlite3

import pytest

from mcquack.bench.rows import RunRecord
from mcquack.errors import InvalidInputError
from tests.bench.store.values import choice, done, failed

NOT_FINITE = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("value", NOT_FINITE)
def test_scores_and_seconds_that_are_no_numbers_are_left_out(store, value):
    store.add(done(scores={"test": {"auc": value, "accuracy": 0.5}}, seconds={"fit": value, "load": 1.0}))
    (kept,) = store.outcomes()
    assert kept.scores == {"test": {"accuracy": 0.5}}
    assert kept.seconds == {"load": 1.0}


@pytest.mark.parametrize("value", NOT_FINITE)
def test_numbers_that_are_not_finite_are_none_in_details(store, value):
    store.add(done(details={"history": {"loss": [0.5, value]}, "kernel": {"values": ((value,), (1,))}}))
    (kept,) = store.outcomes()
    assert kept.details == {"history": {"loss": [0.5, None]}, "kernel": {"values": [[None], [1]]}}


def test_every_text_in_the_file_is_strict_json(path, store):
    store.add(done(details={"history": {"loss": NOT_FINITE}}, scores={"train": {"auc": math.nan}}))
    store.choose(choice(1))

    def refuse(constant):
        raise AssertionError(constant)

    connection = sqlite3.connect(path)
    (texts,) = connection.execute("SELECT task, scores, seconds FROM outcomes")
    (chosen,) = connection.execute("SELECT content FROM choices")
    connection.close()
    for text in (*texts, *chosen):
        json.loads(text, parse_constant=refuse)


def test_file_names_that_are_not_unicode_are_kept_readable(store):
    store.add(failed(error="cannot open 'a\udcff.csv'", dataset="a\udcff"))
    (kept,) = store.outcomes()
    assert kept.error == r"cannot open 'a\udcff.csv'"
    assert kept.task == failed(dataset="a\udcff").task


def test_a_long_traceback_is_kept_whole(store):
    error = "Traceback: ü\n" * 200_000
    store.add(failed(error=error))
    assert next(store.outcomes()).error == error


@pytest.mark.parametrize(
    "add",
    [
        lambda store: store.add(done(details={"model": object()})),
        lambda store: store.add(done(details={"number": 1j, "loss": [math.nan]})),
        lambda store: store.choose(choice(1, score=math.nan)),
        lambda store: store.choose(choice(1, settings={"C": {1, 2}})),
        lambda store: store.begin_run(RunRecord(command="", suite={"path": object()})),
    ],
)
def test_what_is_no_plain_value_is_refused_and_nothing_is_kept(store, add):
    with pytest.raises(InvalidInputError, match="plain JSON values"):
        add(store)
    assert (list(store.outcomes()), store.choices(), store.runs()) == ([], {}, ())
