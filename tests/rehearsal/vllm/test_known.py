from rehearsal.vllm.known import Known, judge, known
from rehearsal.vllm.likeness import Difference

BODY = Difference("q", "body", ["a 1", "b 2"], ["a 1", "b 3"])


def entry(line: str, question: str = "q", kind: str = "body") -> Known:
    return Known(question, kind, line, "because")


def test_a_difference_is_explained_by_the_lines_that_may_differ() -> None:
    assert judge([BODY], [entry("^b ")]).unexplained == []


def test_what_no_entry_covers_is_left() -> None:
    assert judge([BODY], [entry("^a ")]).unexplained == [Difference("q", "body", ["b 2"], ["b 3"])]
    assert judge([BODY], [entry("^b ", question="r")]).unexplained == [BODY]


def test_an_entry_that_explains_nothing_is_outdated() -> None:
    used, unused = entry("^b "), entry("^b ", kind="stream")
    assert judge([BODY], [used, unused]).outdated == [unused]


def test_what_differs_only_sometimes_is_never_outdated() -> None:
    assert judge([BODY], [Known("r", "body", "^b ", "because", sometimes=True)]).outdated == []


def test_every_entry_of_the_list_has_a_reason() -> None:
    for one in known():
        assert len(one.reason) > 20
