"""Logs that went to files of a cluster's nodes, as the kubelets hand them out through the API server."""

import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from experiment import shipping
from experiment.logline import Line, of_otlp
from rehearsal.observer import ClusterRefusedError, Observer

_CHUNK = 4 * 2**20
_ENTRY = re.compile(r'<a href="([A-Za-z0-9._%-]+\.jsonl)">')
_BELOW_LOG = shipping.FILES.removeprefix("/var/log/")


class NodeFiles(Observer):
    """Reads on where it was: each call returns what came since."""

    def __init__(self, kubeconfig: Path, context: str | None, namespace: str) -> None:
        """Read the kubeconfig; raises as `Observer`."""
        super().__init__(kubeconfig, context)
        self._namespace = namespace
        self._read: dict[tuple[str, str], int] = {}

    def lines(self, selectors: Sequence[Mapping[str, str]]) -> Iterator[Sequence[Line]]:
        """Return new lines, of one part of a file after another.

        Args:
            selectors: labels of the groups of nodes whose files are read.

        Raises:
            ClusterRefusedError: the kubelets' logs may not be read.
            ClusterUnreachableError: the API server does not answer, or a kubelet does not.
        """
        for node in sorted({name for selector in selectors for name in self.node_names(selector)}):
            for name in self._files(node):
                yield from self._lines(node, name)

    def node_names(self, selector: Mapping[str, str]) -> Sequence[str]:
        """Return the names of the nodes that carry all these labels."""
        labels = ",".join(f"{key}={value}" for key, value in selector.items())
        items = self._get(f"/api/v1/nodes?labelSelector={quote(labels, safe='')}")["items"]
        return [str(item["metadata"]["name"]) for item in items]

    def _files(self, node: str) -> Sequence[str]:
        """Return the names of a node's files; none before the first line."""
        try:
            status, listing = self._ask(self._path(node, ""))
        except ClusterRefusedError as error:
            raise ClusterRefusedError(
                f"The logs of node {node} cannot be read through the API server: {error.message}",
                "It takes the right to `get` `nodes/proxy`, and a kubelet with enableSystemLogHandler, its default.",
            ) from error
        if status == HTTPStatus.NOT_FOUND:
            return []
        return sorted(name for name in _ENTRY.findall(listing) if name.startswith(node))

    def _lines(self, node: str, name: str) -> Iterator[Sequence[Line]]:
        chunk = _CHUNK
        while True:
            at = self._read.get((node, name), 0)
            status, body = self._raw(self._path(node, name), {"Range": f"bytes={at}-{at + chunk - 1}"})
            if status != HTTPStatus.PARTIAL_CONTENT:
                return
            # What has no end yet is read again with what comes after it.
            whole = body.rfind(b"\n") + 1
            self._read[node, name] = at + whole
            if whole:
                yield of_otlp(body[:whole].decode(errors="replace"))
            if len(body) < chunk:
                return
            chunk = chunk if whole else 2 * chunk

    def _path(self, node: str, name: str) -> str:
        return f"/api/v1/nodes/{node}/proxy/logs/{_BELOW_LOG}/{self._namespace}/{name}"
