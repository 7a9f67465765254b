"""YAML that a person wrote, read as Pulumi reads it, or refused in one sentence.

YAMLTextError
    the text is no YAML, or holds what has no place in a setting.
"""

from typing import Any

import yaml

_MOST_VALUES = 100_000  # once every alias is written out; a real stack file has about a hundred
_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"


class YAMLTextError(Exception):
    """Why a text is refused, in words that fit after "PLACE is not YAML: "."""


class _Loader(yaml.SafeLoader):
    """Leaves dates as the text they are: what is written of them later must be what was read."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


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
