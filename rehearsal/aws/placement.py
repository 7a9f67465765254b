"""Placement groups, which moto's EC2 does not play."""

import uuid
from collections.abc import Mapping
from xml.sax.saxutils import escape

_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"


class PlacementGroups:
    """Groups by region and name: strategy, id and tags."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], tuple[str, str, dict[str, str]]] = {}

    def answer(self, region: str, form: Mapping[str, str]) -> bytes | None:
        """Answer a request of EC2's query API; None if it is about something else."""
        match form.get("Action"):
            case "CreatePlacementGroup":
                self._groups[region, form["GroupName"]] = (
                    form["Strategy"],
                    f"pg-{uuid.uuid4().hex[:17]}",
                    _tags(form),
                )
                return _xml(
                    "CreatePlacementGroup", f"<placementGroup>{self._one(region, form['GroupName'])}</placementGroup>"
                )
            case "DescribePlacementGroups":
                items = [f"<item>{self._one(region, name)}</item>" for where, name in self._groups if where == region]
                return _xml("DescribePlacementGroups", f"<placementGroupSet>{''.join(items)}</placementGroupSet>")
            case "DeletePlacementGroup":
                self._groups.pop((region, form["GroupName"]), None)
                return _xml("DeletePlacementGroup", "<return>true</return>")
            case "CreateTags" | "DeleteTags" if form.get("ResourceId.1", "").startswith("pg-"):
                self._tag(form)
                return _xml(form["Action"], "<return>true</return>")
        return None

    def _one(self, region: str, name: str) -> str:
        strategy, group, tags = self._groups[region, name]
        items = "".join(
            f"<item><key>{escape(key)}</key><value>{escape(value)}</value></item>" for key, value in tags.items()
        )
        return (
            f"<groupName>{escape(name)}</groupName><strategy>{strategy}</strategy><state>available</state>"
            f"<groupId>{group}</groupId><tagSet>{items}</tagSet>"
        )

    def _tag(self, form: Mapping[str, str]) -> None:
        for _, group, tags in self._groups.values():
            if group == form["ResourceId.1"]:
                for key, value in _tags(form, "Tag").items():
                    if form["Action"] == "CreateTags":
                        tags[key] = value
                    else:
                        tags.pop(key, None)


def _tags(form: Mapping[str, str], prefix: str = "TagSpecification.1.Tag") -> dict[str, str]:
    found = {}
    number = 1
    while f"{prefix}.{number}.Key" in form:
        found[form[f"{prefix}.{number}.Key"]] = form.get(f"{prefix}.{number}.Value", "")
        number += 1
    return found


def _xml(operation: str, inside: str) -> bytes:
    return (
        f'<{operation}Response xmlns="{_NAMESPACE}"><requestId>{uuid.uuid4()}</requestId>{inside}</{operation}Response>'
    ).encode()
