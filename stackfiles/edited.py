"""One setting of a stack file changed in its text, so that every comment and every other line stays as it is."""

import json
from collections.abc import Sequence

import yaml

from experiment.settings import KEY
from stackfiles.stackfile import StackFileError
from stackfiles.yamltext import YAMLTextError, read


def with_end_date(text: str, moment: str, where: str) -> str:
    """Return the text of a stack file with another end date, or with one where it had none.

    Args:
        text: of the whole file.
        moment: as in `2026-12-31T18:00:00+01:00`.
        where: how to call the file in an error.

    Raises:
        StackFileError: the place cannot be found, or nothing but the date would not stay as it was.
    """
    changed = _changed(text, json.dumps(moment), where)
    before = read(text)
    try:
        after = read(changed)
    except YAMLTextError:  # an anchor or a tag stands where the mapping begins
        after = None
    settings = dict(before["config"][KEY])
    settings["end_date"] = moment
    if after != {**before, "config": {**before["config"], KEY: settings}}:
        raise StackFileError(
            f"{where}: its end date cannot be changed without more.", f"Write end_date: {moment} there."
        )
    return changed


def _changed(text: str, value: str, where: str) -> str:
    settings = _mapping(_root(text, where), ("config", KEY), where)
    for key, old in settings.value:
        if key.value == "end_date":
            if not isinstance(old, yaml.ScalarNode):
                raise StackFileError(f"{where}: end_date is no text.", "Write a moment there.")
            return text[: old.start_mark.index] + value + text[old.end_mark.index :]
    if not settings.value:
        raise StackFileError(f"{where}: {KEY} is empty.", "Write the experiment there.")
    if settings.flow_style:
        at = settings.start_mark.index + 1
        return f"{text[:at]}end_date: {value}, {text[at:].lstrip(' ')}"
    # It stands with the lines that say what the experiment is, before the first that does not.
    after = [key for key, _ in settings.value if key.value not in ("name", "owner", "purpose")]
    if not after:
        end = len(text.rstrip("\n"))
        return f"{text[:end]}\n{' ' * settings.value[0][0].start_mark.column}end_date: {value}\n"
    mark = after[0].start_mark
    line = mark.index - mark.column
    return f"{text[:line]}{' ' * mark.column}end_date: {value}\n{text[line:]}"


def _root(text: str, where: str) -> yaml.MappingNode:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(node, yaml.MappingNode):
        raise StackFileError(f"{where} is no mapping.", "Mend the file.")
    return node


def _mapping(node: yaml.MappingNode, path: Sequence[str], where: str) -> yaml.MappingNode:
    for key in path:
        found = next((value for name, value in node.value if name.value == key), None)
        if not isinstance(found, yaml.MappingNode):
            raise StackFileError(f"{where} has no mapping at {'.'.join(path)}.", "Mend the file.")
        node = found
    return node
