"""The double of the `aws` provider: resources' lives over the doubles' services."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from threading import Lock
from typing import Any

import grpc
from google.protobuf import empty_pb2
from google.rpc import code_pb2, status_pb2  # type: ignore[import-untyped]
from pulumi.runtime.proto import provider_pb2 as proto

from experiment.waits import waits
from rehearsal.aws.changes import at, changed_keys, within
from rehearsal.aws.kinds.all import KINDS
from rehearsal.aws.kinds.ec2 import LAUNCH_TEMPLATE
from rehearsal.aws.kinds.kind import Changing, Kind, Making, Resource
from rehearsal.aws.kinds.s3 import BUCKET
from rehearsal.aws.pace import Pace
from rehearsal.aws.plugin import Plugin
from rehearsal.aws.requests import ACCOUNT, requests
from rehearsal.aws.services import RefusedError, Services, gone
from rehearsal.aws.values import UNKNOWN, known, message, plain

Values = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One change that the engine asked for: what, of which type and name, and in which order it began and ended."""

    what: str
    type: str
    name: str
    began: int
    ended: int


class AwsProvider(Plugin):
    """Checks, compares, makes, changes and deletes resources of the kinds that our stacks have."""

    version = version("pulumi-aws")

    def __init__(self, services: Services, pace_: Pace) -> None:
        self._services, self._pace = services, pace_
        self._default_tags: dict[str, str] = {}
        self._lock = Lock()
        self._count = 0
        self.calls: list[Call] = []

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Take region, accounts and default tags; refuse another account, as the real provider does."""
        given = plain(request.args)
        allowed = _listed(given.get("allowedAccountIds"))
        if allowed and ACCOUNT not in allowed:
            context.abort(grpc.StatusCode.UNKNOWN, f"AWS account ID not allowed: {ACCOUNT}")
        if (region := given.get("region")) not in (None, UNKNOWN, self._services.region):
            context.abort(grpc.StatusCode.UNKNOWN, f"the doubles are in {self._services.region}, not in {region}")
        tags = _decoded(given.get("defaultTags"))
        self._default_tags = dict(tags.get("tags", {})) if isinstance(tags, Mapping) else {}
        return proto.ConfigureResponse(acceptSecrets=True, supportsPreview=True, acceptResources=True)

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Fill in the name, and say which required inputs are missing."""
        kind, news, olds = _kind(request.urn, context), plain(request.news), plain(request.olds)
        if kind.named and kind.named not in news:
            kept = olds.get(kind.named)
            name = request.urn.rpartition("::")[2]
            suffix = hashlib.sha256(request.randomSeed + request.urn.encode()).hexdigest()[:7]
            news[kind.named] = kept or f"{name}-{suffix}"
        failures = [
            proto.CheckFailure(property=name, reason=f"Missing required property '{name}'")
            for name in sorted(kind.required - news.keys())
        ]
        return proto.CheckResponse(inputs=message(news), failures=failures)

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Say what changes, and whether that needs another resource."""
        kind = _kind(request.urn, context)
        olds, news, state = plain(request.old_inputs), plain(request.news), plain(request.olds)
        changed = changed_keys(olds, news)
        if kind.tag is not None and self._all_tags(news) != (state.get("tagsAll") or {}):
            changed |= {"tagsAll"}
        replaces = sorted(path for path in kind.fixed if at(olds, path) != at(news, path))
        named = kind.named is not None and news.get(kind.named) == olds.get(kind.named)
        return proto.DiffResponse(
            changes=proto.DiffResponse.DIFF_SOME if changed else proto.DiffResponse.DIFF_NONE,
            diffs=sorted(changed),
            replaces=replaces,
            deleteBeforeReplace=bool(replaces) and (kind.unique or named),
        )

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Make a resource."""
        kind, inputs = _kind(request.urn, context), plain(request.properties)
        tags = {"tagsAll": self._all_tags(inputs)} if kind.tag is not None else {}
        if request.preview:
            return proto.CreateResponse(properties=message(inputs | tags | dict.fromkeys(kind.computed, UNKNOWN)))
        if not known(inputs):
            context.abort(grpc.StatusCode.INTERNAL, f"{request.urn}: the engine does not know all inputs")
        made = self._counted(
            "create", request.urn, lambda: self._create(kind, request.urn, inputs | _tags(tags)), context
        )
        self._pace.spend(waits(kind.type).create.seconds)
        outputs = {**inputs, **made.outputs, **tags}
        if made.failed:
            _half_made(context, made.id, outputs, inputs, made.failed)
        return proto.CreateResponse(id=made.id, properties=message(outputs))

    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Look whether a resource is there, and what of it has changed."""
        kind, state, inputs = _kind(request.urn, context), plain(request.properties), plain(request.inputs)
        try:
            seen = kind.look(self._services, Resource(request.id, state))
        except RefusedError as error:
            return _fail(context, f"reading {request.urn}", error)
        if seen is None:
            return proto.ReadResponse()
        news = {key: within(inputs[key], value) for key, value in seen.items() if key in inputs}
        return proto.ReadResponse(id=request.id, properties=message(state | dict(seen)), inputs=message(inputs | news))

    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Change a resource in place."""
        kind = _kind(request.urn, context)
        olds, news, state = plain(request.old_inputs), plain(request.news), plain(request.olds)
        kept = {key: value for key, value in state.items() if key not in olds or key in kind.computed}
        keys = frozenset(changed_keys(olds, news)) - {"tags"}
        tags = {"tagsAll": self._all_tags(news)} if kind.tag is not None else {}
        if request.preview:
            unsure = {"latestVersion": UNKNOWN} if kind is LAUNCH_TEMPLATE and keys else {}
            # What nobody touches keeps what AWS has filled in below it, as in the real provider's plan.
            same = {key: state[key] for key in news if key in state and key not in keys}
            return proto.UpdateResponse(properties=message(kept | news | same | tags | unsure))

        def update() -> Mapping[str, Any]:
            resource = Resource(request.id, state)
            if kind.tag is not None and tags["tagsAll"] != state.get("tagsAll"):
                kind.tag(self._services, resource, tags["tagsAll"])
            if keys:
                kind.change(Changing(self._services, resource, news, keys))
            return kind.look(self._services, resource) or {}

        seen = self._counted("update", request.urn, update, context)
        return proto.UpdateResponse(properties=message(kept | news | dict(seen) | tags))

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Delete a resource; one that is gone already is as good."""
        kind = _kind(request.urn, context)

        def delete() -> None:
            try:
                kind.delete(self._services, Resource(request.id, plain(request.properties)))
            except RefusedError as error:
                if not gone(error):
                    raise
            self._pace.spend(waits(kind.type).delete.seconds)

        self._counted("delete", request.urn, delete, context)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Answer the one question that pulumi-eks asks."""
        if request.tok != "aws:index/getPartition:getPartition":
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the double does not know {request.tok}")
        return proto.InvokeResponse(**{"return": message({"partition": "aws", "dnsSuffix": "amazonaws.com"})})

    def _create(self, kind: Kind, urn: str, inputs: Values) -> Any:
        name = inputs.get(kind.named or "") or urn.rpartition("::")[2]
        found = requests(kind.type, inputs if kind.type in _TAKE_NAME else _without_name(kind, inputs), name)
        answers = self._services.send(found, kind.itself)
        if kind.type == BUCKET:
            name = found[0].params["Bucket"]
        return kind.make(Making(self._services, name, inputs, answers))

    def _all_tags(self, inputs: Values) -> dict[str, str]:
        return self._default_tags | (inputs.get("tags") or {})

    def _counted(self, what: str, urn: str, act: Callable[[], Any], context: Any) -> Any:
        began = self._tick()
        type_, _, name = urn.partition("::")[2].partition("::")[2].rpartition("::")
        try:
            found = act()
        except RefusedError as error:
            return _fail(context, f"{what} {name}", error)
        call = Call(what, type_.rpartition("$")[2], name, began, self._tick())
        with self._lock:
            self.calls.append(call)
        return found

    def _tick(self) -> int:
        with self._lock:
            self._count += 1
            return self._count


_TAKE_NAME = {
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:cloudwatch/logStream:LogStream",
    "aws:scheduler/scheduleGroup:ScheduleGroup",
    "aws:scheduler/schedule:Schedule",
    "aws:eks/cluster:Cluster",
    "aws:eks/nodeGroup:NodeGroup",
}
"""Types whose name our program sets, so that their requests read it as an input."""


def _without_name(kind: Kind, inputs: Values) -> Values:
    return {key: value for key, value in inputs.items() if key != kind.named}


def _tags(tags: Mapping[str, Any]) -> Values:
    return {"tags": tags["tagsAll"]} if tags else {}


def _kind(urn: str, context: Any) -> Kind:
    type_ = urn.split("::")[2].rpartition("$")[2]
    if type_ not in KINDS:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the double of aws does not know {type_}")
    found: Kind = KINDS[type_]
    return found


def _fail(context: Any, what: str, error: RefusedError) -> Any:
    context.abort(grpc.StatusCode.UNKNOWN, f"{what}: {error}")


def _half_made(context: Any, id_: str, outputs: Values, inputs: Values, reason: str) -> None:
    """Refuse, but leave what is there in the state."""
    detail = proto.ErrorResourceInitFailed(
        id=id_, properties=message(outputs), reasons=[reason], inputs=message(inputs)
    )
    status = status_pb2.Status(code=code_pb2.UNKNOWN, message=reason)
    status.details.add().Pack(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, reason)


def _decoded(value: Any) -> Any:
    """Return a nested value of a provider's configuration, which may come as JSON."""
    return json.loads(value) if isinstance(value, str) and value[:1] in "[{" and value else value or {}


def _listed(value: Any) -> list[str]:
    return list(_decoded(value) or [])
