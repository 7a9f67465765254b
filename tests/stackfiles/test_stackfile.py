"""Stack files, varied and written elsewhere."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from experiment.settings import KEY, SettingsError
from stackfiles.stackfile import STACKS, StackFile, StackFileError

STACK = """
config:
  splitbed:experiment:
    name: x
    topology: {kind: split, pipeline: 2}
"""
TODAY = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(STACK)
    return path


def test_overrides_reach_nested_and_missing_paths(source: Path) -> None:
    stack = StackFile.read(source)

    varied = stack.replaced({"topology": {"kind": "single"}, "cluster.kubeconfig": "/k", "name": "y"})

    assert varied.document["config"][KEY] == {
        "name": "y",
        "topology": {"kind": "single"},
        "cluster": {"kubeconfig": "/k"},
    }
    assert stack.document == yaml.safe_load(STACK)


def test_a_mapping_and_a_value_below_it_may_both_be_given(source: Path) -> None:
    overrides = {"topology": {"kind": "replicas"}, "topology.count": 3}

    varied = StackFile.read(source).replaced(overrides)

    assert varied.document["config"][KEY]["topology"] == {"kind": "replicas", "count": 3}
    assert overrides == {"topology": {"kind": "replicas"}, "topology.count": 3}


def test_what_is_written_keeps_the_salt_of_its_own_backend(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "private.yaml"
    target.write_text("encryptionsalt: v1:abc")

    StackFile.read(source).write(target)

    assert yaml.safe_load(target.read_text()) == {**yaml.safe_load(STACK), "encryptionsalt": "v1:abc"}
    assert target.stat().st_mode & 0o077 == 0
    assert source.read_text() == STACK


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "is not YAML"),
        ("- 1", "holds a list, not a mapping"),
        ("config: {}", "no mapping under splitbed:experiment"),
        ("config: 3", "no mapping under splitbed:experiment"),
        ("", "holds nothing, not a mapping"),
        ("\x00", "is not YAML"),
        ("a: 1\na: 2", "is not YAML: the key a is there twice"),
        ("config: &a {splitbed:experiment: *a}", "is not YAML: it refers to itself"),
        ("config: " + "[" * 700, "is not YAML: it is nested too deep"),
        ("a: !!int x", "is not YAML"),
    ],
)
def test_a_broken_stack_file_is_named_with_its_path(source: Path, text: str, says: str) -> None:
    source.write_text(text)

    with pytest.raises(StackFileError, match=says) as caught:
        StackFile.read(source)

    assert str(source) in caught.value.message


def test_a_date_without_quotes_is_written_as_it_was_read(source: Path, tmp_path: Path) -> None:
    source.write_text(f"{STACK}    end_date: 2026-12-31\n")

    StackFile.read(source).write(tmp_path / "private.yaml")

    assert "end_date: '2026-12-31'" in (tmp_path / "private.yaml").read_text()


@pytest.mark.parametrize("name", ["nope", "", "../x", "x" * 300, "rehearsal-split.yaml", "*"])
def test_an_unknown_stack_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(StackFileError, match="There is no stack") as caught:
        StackFile.of(name)

    assert "rehearsal-single, rehearsal-split" in caught.value.remedy


def test_a_path_through_a_scalar_is_refused(source: Path) -> None:
    with pytest.raises(StackFileError, match=r"name\.first: name is 'x', not a mapping"):
        StackFile.read(source).replaced({"name.first": 1})


@pytest.mark.parametrize("stack", sorted(path.name.split(".")[1] for path in STACKS.glob("Pulumi.*.yaml")))
def test_every_tracked_stack_passes_and_a_wrong_value_does_not(stack: str) -> None:
    StackFile.of(stack).check(TODAY)

    with pytest.raises(SettingsError, match=r"topology"):
        StackFile.of(stack).replaced({"topology.kind": "splitt"}).check(TODAY)


def test_a_file_of_megabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(STACK + "".join(f"# {number:060}\n" for number in range(160_000)))
    with pytest.raises(StackFileError, match=r"is longer than 100 kB, and a stack file has a few"):
        StackFile.read(path)


def test_what_never_ends_is_refused() -> None:
    with pytest.raises(StackFileError, match="is longer than 100 kB"):
        StackFile.read(Path("/dev/zero"))


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_bytes(b"ab\xff")
    with pytest.raises(StackFileError, match=r"is no text in UTF-8: byte 3"):
        StackFile.read(path)


def test_a_stack_that_is_nearly_named_is_proposed() -> None:
    with pytest.raises(StackFileError) as caught:
        StackFile.of("Gemma-12b-splt")
    assert caught.value.remedy.startswith("Did you mean gemma-12b-split? Known are ")
