"""As much of an engine as a provider needs to be told what to do."""

from collections.abc import Mapping
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import provider_pb2_grpc

from rehearsal.aws.values import message, plain

Values = dict[str, Any]
TAGS = {"splitbed:experiment": "some", "splitbed:end-date": "2100-01-01T00:00:00+00:00"}


class Driver:
    """Asks a provider over gRPC; keeps inputs and state of each resource by its name."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.stub = provider_pb2_grpc.ResourceProviderStub(channel)
        self.inputs: dict[str, Values] = {}
        self.states: dict[str, Values] = {}
        self.ids: dict[str, str] = {}
        self.urns: dict[str, str] = {}

    def configure(self, **args: Any) -> None:
        self.stub.Configure(proto.ConfigureRequest(args=message(args)))

    def check(self, type_: str, name: str, inputs: Mapping[str, Any]) -> tuple[Values, list[str]]:
        self.urns[name] = urn = f"urn:pulumi:test::splitbed::splitbed:index:Testbed${type_}::{name}"
        olds = message(self.inputs.get(name, {}))
        said = self.stub.Check(proto.CheckRequest(urn=urn, olds=olds, news=message(inputs), randomSeed=b"seed"))
        return plain(said.inputs), [one.reason for one in said.failures]

    def create(self, type_: str, name: str, /, **inputs: Any) -> Values:
        checked, failures = self.check(type_, name, inputs)
        assert not failures
        made = self.stub.Create(proto.CreateRequest(urn=self.urns[name], properties=message(checked)))
        self.inputs[name], self.states[name], self.ids[name] = checked, plain(made.properties), made.id
        return {"id": made.id, **self.states[name]}

    def preview(self, type_: str, name: str, /, **inputs: Any) -> Values:
        checked, _ = self.check(type_, name, inputs)
        made = self.stub.Create(proto.CreateRequest(urn=self.urns[name], properties=message(checked), preview=True))
        return plain(made.properties)

    def diff(self, name: str, /, **changes: Any) -> tuple[list[str], list[str], bool]:
        """Return what differs, what of it needs another resource, and whether the old one goes first."""
        news, _ = self.check(self._type(name), name, self.inputs[name] | changes)
        said = self.stub.Diff(
            proto.DiffRequest(
                id=self.ids[name],
                urn=self.urns[name],
                olds=message(self.states[name]),
                old_inputs=message(self.inputs[name]),
                news=message(news),
            )
        )
        return list(said.diffs), list(said.replaces), said.deleteBeforeReplace

    def update(self, name: str, /, *, preview: bool = False, **changes: Any) -> Values:
        news, _ = self.check(self._type(name), name, self.inputs[name] | changes)
        said = self.stub.Update(
            proto.UpdateRequest(
                id=self.ids[name],
                urn=self.urns[name],
                olds=message(self.states[name]),
                old_inputs=message(self.inputs[name]),
                news=message(news),
                preview=preview,
            )
        )
        if not preview:
            self.inputs[name], self.states[name] = news, plain(said.properties)
        return plain(said.properties)

    def read(self, name: str) -> tuple[Values, Values] | None:
        """Return state and inputs as they are now; None of what is gone."""
        said = self.stub.Read(
            proto.ReadRequest(
                id=self.ids[name],
                urn=self.urns[name],
                properties=message(self.states[name]),
                inputs=message(self.inputs[name]),
            )
        )
        return (plain(said.properties), plain(said.inputs)) if said.id else None

    def delete(self, name: str) -> None:
        self.stub.Delete(
            proto.DeleteRequest(id=self.ids[name], urn=self.urns[name], properties=message(self.states[name]))
        )

    def _type(self, name: str) -> str:
        return self.urns[name].split("::")[2].rpartition("$")[2]
