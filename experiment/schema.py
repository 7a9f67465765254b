"""JSON Schema of a stack file, generated from the models, by which an editor completes and checks one."""

from typing import Any

from experiment.settings import KEY, Settings

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def of_stack_file() -> dict[str, Any]:
    """Return the schema of a whole file: the settings are in it where Pulumi wants them, all else is Pulumi's."""
    settings = Settings.model_json_schema(ref_template="#/$defs/{model}")
    definitions = settings.pop("$defs")
    return {
        "$schema": _DIALECT,
        "title": "Stack file of a Splitbed experiment",
        "type": "object",
        "required": ["config"],
        "properties": {
            "config": {
                "type": "object",
                "required": [KEY],
                "properties": {KEY: {"$ref": "#/$defs/Settings"}},
            }
        },
        "$defs": {"Settings": settings, **definitions},
    }
