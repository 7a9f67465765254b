"""An end date is changed in the text of a stack file, and nothing else is."""

import pytest

from experiment.settings import KEY
from stackfiles.edited import with_end_date
from stackfiles.stackfile import STACKS, StackFileError, stacks
from stackfiles.yamltext import read

NEW = "2027-01-15T18:00:00+01:00"


@pytest.mark.parametrize("stack", stacks())
def test_every_tracked_file_gets_one_line_more(stack: str) -> None:
    text = (STACKS / f"Pulumi.{stack}.yaml").read_text()

    changed = with_end_date(text, NEW, stack)

    assert read(changed)["config"][KEY]["end_date"] == NEW
    kept = [line for line in changed.splitlines() if "end_date:" not in line]
    assert kept == [line for line in text.splitlines() if not line.strip().startswith("end_date:")]


@pytest.mark.parametrize(
    "old", ['"2026-12-31T18:00:00+01:00"', "'2026-12-31T18:00:00+01:00'", "2026-12-31T18:00:00+01:00"]
)
def test_a_date_is_replaced_in_its_place_with_its_comment(old: str) -> None:
    text = f"config:\n  {KEY}:\n    name: x  # why\n    end_date: {old} # ask Ada\n    purpose: y\n\n\n# the end\n"

    assert with_end_date(text, NEW, "f") == text.replace(old, f'"{NEW}"')


def test_it_is_written_after_what_the_experiment_is() -> None:
    text = f"config:\n  {KEY}:\n    name: x\n    # whose\n    owner: Ada\n    cluster: {{kind: eks}}\n"

    assert f'    owner: Ada\n    end_date: "{NEW}"\n    cluster' in with_end_date(text, NEW, "f")


@pytest.mark.parametrize(
    "text",
    [f"config:\n  {KEY}: {{name: x, owner: y}}\n", f"config:\n  {KEY}:\n    name: x\n    owner: y\n"],
)
def test_other_ways_to_write_a_mapping(text: str) -> None:
    assert read(with_end_date(text, NEW, "f"))["config"][KEY] == {"name": "x", "owner": "y", "end_date": NEW}


@pytest.mark.parametrize("text", ["config: {}\n", "- 1\n", f"config:\n  {KEY}:\n    end_date: [1]\n"])
def test_a_file_without_the_place_is_refused(text: str) -> None:
    with pytest.raises(StackFileError, match=r"^f"):
        with_end_date(text, NEW, "f")


def test_a_date_that_an_anchor_shares_is_not_changed() -> None:
    text = f"x: &settings {{name: a}}\nconfig:\n  {KEY}: *settings\n"

    with pytest.raises(StackFileError, match="without more"):
        with_end_date(text, NEW, "f")
