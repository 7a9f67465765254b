"""YAML that a person wrote, read as Pulumi reads it or refused in one sentence, and written so that Pulumi reads it so.

YAMLTextError
    the text is no YAML, or holds what has no place in a setting.
"""

import re
from typing import Any

import yaml

from stackfiles.scalars import resolved

_MOST_VALUES = 100_000  # once every alias is written out; a real stack file has about a hundred
_DAY_BEGINS = re.compile(r"\d{4}-", re.ASCII)
_TAGS = "tag:yaml.org,2002:"
_TEXT, _MERGE = f"{_TAGS}str", f"{_TAGS}merge"


class YAMLTextError(Exception):
    """Why a text is refused, in words that fit after "PLACE is not YAML: "."""


class _Loader(yaml.SafeLoader):
    """Takes plain scalars as Pulumi does, and leaves dates as the text they are."""

    yaml_constructors = {  # noqa: RUF012  PyYAML's own way
        tag: construct
        for tag, construct in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.removeprefix(_TAGS) in ("str", "seq", "map")
    }

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> Any:
        """Return the tag of a node that has none of its own."""
        if kind is yaml.ScalarNode and implicit[0]:
            return _TAGS + resolved(value)[0]
        return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]

    def construct_plain(self, node: yaml.ScalarNode) -> Any:
        """Return the value of a scalar that is no text, if it is what its tag says."""
        kind, value = resolved(node.value)
        if node.tag == f"{_TAGS}float" and kind == "int":
            return value
        if node.tag != _TAGS + kind:
            raise ValueError(f"{node.value[:80]!r} is written as {node.tag.removeprefix(_TAGS)}")
        return value


for _kind in ("null", "bool", "int", "float"):
    _Loader.add_constructor(_TAGS + _kind, _Loader.construct_plain)


class _Dumper(yaml.SafeDumper):
    """Quotes a text that Pulumi would take for something else."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> Any:
        """Return the tag that a reader would give to a scalar without quotes."""
        tag = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        if tag != _TEXT or kind is not yaml.ScalarNode or not implicit[0]:
            return tag
        return f"{_TAGS}timestamp" if _DAY_BEGINS.match(value) else _TAGS + _kind_of(value)


def _kind_of(text: str) -> str:
    try:
        return resolved(text)[0]
    except ValueError:  # a number too large for Pulumi is a number all the same
        return "int"


def write(document: Any) -> str:
    """Return the text of a document that `read` returned, keys in their order."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def read(text: str) -> Any:
    """Return the one document of a text as dicts with text for keys, lists and scalars; a date is text.

    Raises:
        YAMLTextError: it cannot be read, has a key twice or one that is no text, refers to itself, or grows beyond
            all measure where its aliases are written out.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _weigh(node, {})
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise YAMLTextError(f"{error.problem or error.context}{_place(error.problem_mark)}") from error
    except yaml.reader.ReaderError as error:
        raise YAMLTextError(f"character {error.character:#x} at {error.position} cannot stand there") from error
    except RecursionError as error:
        raise YAMLTextError("it is nested too deep") from error
    # What a constructor makes of a scalar that does not fit its tag, such as `!!int x` or 5000 digits.
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise YAMLTextError(f"a value is not of the type that it is written as ({error})") from error


def _weigh(node: yaml.Node, known: dict[int, int]) -> int:
    """Return how many values a node holds with its aliases written out; refuse what read() says it refuses."""
    if id(node) in known:
        if not known[id(node)]:  # not closed yet
            raise YAMLTextError(f"it refers to itself{_place(node.start_mark)}")
        return known[id(node)]
    known[id(node)] = 0
    weight = 1
    if isinstance(node, yaml.MappingNode):
        _check_keys(node)
        weight += sum(_weigh(value, known) for _, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        weight += sum(_weigh(item, known) for item in node.value)
    else:
        _check_characters(node)
    if weight > _MOST_VALUES:
        raise YAMLTextError(f"it holds over {_MOST_VALUES} values{_place(node.start_mark)}")
    known[id(node)] = weight
    return weight


def _check_keys(node: yaml.MappingNode) -> None:
    keys = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag not in (_TEXT, _MERGE):
            shown = f" {key.value}" if isinstance(key, yaml.ScalarNode) else ""
            raise YAMLTextError(f"the key{shown} is not text: put it in quotes{_place(key.start_mark)}")
        _check_characters(key)
        if key.value in keys:
            raise YAMLTextError(f"the key {key.value} is there twice{_place(key.start_mark)}")
        keys.add(key.value)


def _check_characters(node: yaml.Node) -> None:
    if any("\ud800" <= character <= "\udfff" for character in node.value):
        raise YAMLTextError(f"half of a character pair stands alone{_place(node.start_mark)}")


def _place(mark: Any) -> str:
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
