from typing import Any

import jsonschema
import pytest
import yaml

from experiment.schema import of_stack_file
from tests.recording import ROOT, STACKS, stack_settings

VALIDATOR = jsonschema.Draft202012Validator(of_stack_file())


def faults(settings: dict[str, Any]) -> list[str]:
    document = {"config": {"splitbed:experiment": settings}}
    return [".".join(map(str, error.path)) for error in VALIDATOR.iter_errors(document)]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(of_stack_file())


@pytest.mark.parametrize("stack", STACKS)
def test_every_stack_file_obeys_it(stack: str) -> None:
    text = (ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text()
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))] == []
    assert text.startswith("# yaml-language-server: $schema=../docs/reference/splitbed-experiment.schema.json\n")


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("ownr", "me", ""),
        ("topology", {"kind": "splt"}, "topology"),
        ("engine", {"version": "0.31.0"}, "engine"),
        ("budget", {"usd": -1}, "budget"),
        ("budget", {"usd": "much"}, "budget"),
        ("nodes", {"system": {"instance": "m7g.large", "count": 1}}, "nodes"),
    ],
)
def test_an_editor_marks_what_the_program_would_refuse(key: str, value: Any, path: str) -> None:
    settings = stack_settings("gemma-1b-split")
    settings[key] = value
    assert [fault for fault in faults(settings) if fault.startswith(f"config.splitbed:experiment.{path}".rstrip("."))]


def test_other_parts_of_the_file_are_pulumis() -> None:
    document = {
        "encryptionsalt": "v1:x",
        "config": {"aws:region": "x", "splitbed:experiment": stack_settings(STACKS[0])},
    }
    assert not list(VALIDATOR.iter_errors(document))
    assert list(VALIDATOR.iter_errors({"config": {}}))


def test_every_key_of_it_has_a_description() -> None:
    definitions = of_stack_file()["$defs"]
    assert [
        f"{name}.{key}"
        for name, definition in definitions.items()
        for key, schema in definition.get("properties", {}).items()
        if "description" not in schema
    ] == []
