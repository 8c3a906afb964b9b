from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.ranking.scores import model_titles

NAMES = ("svc", "SVC", "sklearn.svm:SVC", "mine:SVC", "mine:svc", "mine:McQuack", "mcquack", "gone", "mine:gone")


@given(names=st.lists(st.sampled_from(NAMES)))
def test_no_two_models_have_the_same_title(names):
    titles = model_titles(names)
    assert titles.keys() == set(names)
    assert len(set(titles.values())) == len(titles)


def test_a_title_that_is_the_full_name_of_another_is_not_taken():
    assert model_titles(["svc", "sklearn.svm:SVC", "mine:svc"]) == {
        name: name for name in ("svc", "sklearn.svm:SVC", "mine:svc")
    }


def test_a_title_of_one_model_alone_is_kept():
    assert model_titles(["svc", "svc", "mine:Forest"]) == {"svc": "SVC", "mine:Forest": "Forest"}
