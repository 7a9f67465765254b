from typing import Any

import pytest

from report.verdict.decision import Choice, Sure
from report.verdict.headline import headline
from tests.report.verdict.test_posts import verdict


def choice(workload: str, topology: str, sure: Sure = "shown") -> Choice:
    return Choice(workload=workload, topology=topology, why="", sure=sure, cell="c")


def of(*choices: Choice, **changes: Any) -> str:
    found = verdict("1b-single", "1b-split")
    return headline(found.model_copy(update={"choices": choices} | changes))


ONE, MANY = "one user at a time, who reads along", "many users at once, or batches (8 users)"


def test_the_posts_are_described_in_a_sentence() -> None:
    assert headline(verdict("1b-single", "1b-split")) == (
        "Described, not judged: single measured better for one user, 8 users and streams that must not freeze; "
        "split measured better for long prompts."
    )


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ((choice(ONE, "single"), choice(MANY, "single")), "Take single: it is better for one user and 8 users."),
        (
            (choice(ONE, "single"), choice(MANY, "either", "no difference shown")),
            "Take single: it is better for one user, and no difference was shown for 1 workload.",
        ),
        (
            (choice(ONE, "single"), choice(MANY, "split")),
            "It depends on the workload: single is better for one user; split is better for 8 users.",
        ),
        (
            (choice(ONE, "either", "described only"),),
            "Nothing can be said: single and split have no figure in common by which to choose.",
        ),
        (
            tuple(choice(f"profile {name}", "split") for name in "abcde"),
            "Take split: it is better for a, b, c and 2 workloads more.",
        ),
    ],
)
def test_what_is_shown_comes_first(choices: tuple[Choice, ...], said: str) -> None:
    assert of(*choices) == said


def test_sizes_are_left_out_where_kinds_tell_topologies_apart() -> None:
    found = verdict("1b-single", "1b-split")
    for names, said in (
        (("single (tensor 1)", "split (pipeline 2)"), "Take split: it is better for one user."),
        (("split (pipeline 4)", "split (pipeline 2)"), "Take split (pipeline 2): it is better for one user."),
    ):
        subjects = tuple(
            one.model_copy(update={"topology": name}) for one, name in zip(found.subjects, names, strict=True)
        )
        assert of(choice(ONE, "split (pipeline 2)"), subjects=subjects) == said


def test_no_difference_is_an_answer() -> None:
    found = verdict("1b-single", "1b-split")
    judged = tuple(one.model_copy(update={"word": "no difference shown"}) for one in found.comparisons)
    said = of(choice(ONE, "either", "no difference shown"), comparisons=judged)
    assert said == "No difference was shown between single and split."


def test_what_is_simulated_begins_by_saying_so() -> None:
    found = verdict("1b-single", "1b-split")
    subjects = tuple(one.model_copy(update={"simulated": True}) for one in found.subjects)
    assert of(choice(ONE, "single"), subjects=subjects).startswith("Simulated: take single")
