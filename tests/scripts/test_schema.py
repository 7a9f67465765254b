from pathlib import Path

import pytest

from experiment.errors import SplitbedError
from scripts import schema


def test_what_is_generated_is_what_lies_in_the_tree() -> None:
    assert schema.stale() == [], "run `splitbed schema` and commit docs/reference"


def test_it_writes_all_files_and_finds_them_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "REFERENCE", tmp_path / "reference")
    with pytest.raises(SplitbedError, match=r"not up to date: splitbed-experiment\.schema\.json, settings\.md, "):
        schema.schema(check=True)
    schema.schema(check=False)
    schema.schema(check=True)
    (tmp_path / "reference" / schema.PAGE).write_text("old")
    with pytest.raises(SplitbedError, match=r"not up to date: settings\.md"):
        schema.schema(check=True)


def test_the_page_has_a_section_and_every_key() -> None:
    page = schema.generated()[schema.PAGE]
    assert "\n## topology\n" in page
    assert "| `engine.probes.startup_s` | number above 0 to 86400 (seconds) | `900` |" in page
    assert all(line.count(" | ") == 3 for line in page.splitlines() if line.startswith("| `"))


def test_values_are_shown_as_they_are_to_be_written() -> None:
    page = schema.generated()[schema.PAGE]
    assert "| kubeconfig (a cluster that is there) or eks" in page
    assert "Kubeconfig (" not in page
