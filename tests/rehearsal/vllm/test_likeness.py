from pathlib import Path

from rehearsal.vllm.likeness import Difference, Facet, compare, load, save

A, B, C = Facet("q", "status", ["200"]), Facet("q", "body", ["x", "y"]), Facet("r", "status", ["404"])


def test_equal_observations_have_no_difference() -> None:
    assert compare([A, B], [B, A]) == []


def test_what_differs_and_what_is_missing_on_either_side_is_told() -> None:
    other = Facet("q", "body", ["x", "z"])
    assert compare([A, B], [other, C]) == [
        Difference("q", "status", ["200"], ["(nothing)"]),
        Difference("q", "body", ["x", "y"], ["x", "z"]),
        Difference("r", "status", ["(nothing)"], ["404"]),
    ]


def test_a_difference_is_shown_line_by_line() -> None:
    text = Difference("q", "body", ["x", "y"], ["x", "z"]).text()
    assert text.splitlines()[0] == "q: body"
    assert "  -y" in text
    assert "  +z" in text


def test_observations_survive_a_file(tmp_path: Path) -> None:
    save([A, B], tmp_path / "seen.json")
    assert compare(load(tmp_path / "seen.json"), [A, B]) == []
