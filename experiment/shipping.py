"""How the OpenTelemetry Collector of a node reads the logs of an experiment's pods, and where it takes them.

Nothing is asked of the Kubernetes API: of a pod that is gone it knows nothing any more, and a group that crashes at its
start is gone within seconds. What a line belongs to stands in the path of its file,
`/var/log/pods/<namespace>_<pod>_<uid>/<container>/<restart>.log`, and in the pod's name. A group that is made anew has
other uids, so lives are told apart by them, and restarts of a container within one by their count.

A line is delivered at least once: positions are written after the queue has it, and the queue forgets it after the
destination has it. A collector that is killed between may send some again; those have the same uid, container, restart,
time and offset in their file, by which whoever reads drops them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from experiment import arn, names

PODS_LOGS = "/var/log/pods"
"""Where every kubelet keeps the logs of its node's pods."""

KEPT = "/var/lib/splitbed/log-shipper"
"""Directory of a node with positions and queue, below it one for each experiment: they outlive every pod."""

FILES = "/var/log/splitbed"
"""Directory of a node for logs that go to files, below it one for each experiment; the kubelet hands it out."""

NAME = "log-shipper"
"""Of its pods, which are in a namespace of their own and unread: each error of theirs would make another line."""

STREAM = "pods"
"""The one stream: CloudWatch takes as much in one as in many, and the shipper is told of one."""

HEALTH_PORT = 13133
FEATURES = ("stanza.synchronousLogEmitter",)
"""Feature gates: without this one a line is in memory alone for a moment after its position was written."""

_POD, _WORKER = 'resource["k8s.pod.name"]', 'resource["splitbed.worker"]'
_OTLP_BYTES = 256 * 1024
_QUEUE_BYTES = 256 * 1024 * 1024
_FILE_MB, _FILES_KEPT = 100, 10


@dataclass(frozen=True, kw_only=True)
class CloudWatch:
    """CloudWatch Logs' own OTLP endpoint; group and stream are there already.

    Attributes:
        region: in whose name requests are signed.
        group: the log group.
        endpoint: the URL, without a path.
    """

    region: str
    group: str
    endpoint: str


@dataclass(frozen=True, kw_only=True)
class Files:
    """A file of each node.

    Attributes:
        directory: as the collector sees it.
    """

    directory: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """Whose logs, and where the collector finds what it needs.

    Attributes:
        experiment: whose pods.
        logs: the directory of the node's pods' logs, as the collector sees it.
        kept: the directory for positions and queue, as the collector sees it.
    """

    experiment: str
    logs: str
    kept: str


def group_name(experiment: str) -> str:
    """Return the name of the log group of an experiment's pods."""
    return f"/splitbed/{names.object_name(experiment)}"


def cloudwatch(experiment: str, region: str) -> CloudWatch:
    """Return where CloudWatch takes an experiment's logs."""
    return CloudWatch(
        region=region, group=group_name(experiment), endpoint=f"https://logs.{region}.{arn.domain(region)}"
    )


def configuration(source: Source, destination: CloudWatch | Files) -> Mapping[str, object]:
    """Return the collector's configuration; `NODE_NAME` and `POD_IP` are variables of its container."""
    name, exporter = _exporter(destination)
    extensions = _extensions(source, destination)
    return {
        "extensions": extensions,
        "receivers": {"file_log": _receiver(source)},
        "exporters": {name: exporter},
        "service": {
            "extensions": list(extensions),
            "pipelines": {"logs": {"receivers": ["file_log"], "exporters": [name]}},
            "telemetry": {"metrics": {"level": "none"}},
        },
    }


def _extensions(source: Source, destination: CloudWatch | Files) -> dict[str, object]:
    found: dict[str, object] = {
        "file_storage": {
            "directory": f"{source.kept}/${{env:NODE_NAME}}",
            "create_directory": True,
            "timeout": "10s",  # for the lock of one that is ending
            "recreate": True,  # after a power cut: what was queued is lost then, and shipping goes on
        },
        "health_check": {"endpoint": f"${{env:POD_IP}}:{HEALTH_PORT}"},
    }
    if isinstance(destination, CloudWatch):
        found["sigv4auth"] = {"region": destination.region, "service": "logs"}
    return found


def _receiver(source: Source) -> dict[str, object]:
    namespace = names.object_name(source.experiment)
    return {
        # Rotated files too, so that what was written last before a rotation is read, but for those packed since.
        "include": [f"{source.logs}/{namespace}_*/*/*.log", f"{source.logs}/{namespace}_*/*/*.log.2*"],
        "exclude": [f"{source.logs}/**/*.gz", f"{source.logs}/**/*.tmp"],
        "poll_interval": "200ms",
        "start_at": "beginning",
        "include_file_path": True,
        "include_file_name": False,
        "include_file_record_offset": True,
        "storage": "file_storage",
        "retry_on_failure": {"enabled": True, "max_elapsed_time": "0s"},
        "resource": {"k8s.node.name": "${env:NODE_NAME}", "splitbed.experiment": source.experiment},
        "operators": [
            {"type": "container"},
            {"type": "remove", "field": 'attributes["log.file.path"]'},  # all of it is in attributes of its own
            {"type": "remove", "field": "attributes.logtag", "if": '"logtag" in attributes'},
            *_named(names.run_pattern(), ("run", "plan", "attempt")),
            *_named(names.group_pattern(source.experiment), ("group", "worker")),
            {"type": "remove", "field": _WORKER, "if": f'{_WORKER} == ""'},  # of a leader
        ],
    }


def _named(pattern: str, parts: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the operators that make attributes of the parts of a pod's name that fits a pattern."""
    fits = f"{_POD} matches {_quoted(pattern)}"
    moves: list[dict[str, object]] = [
        {
            "type": "move",
            "if": f'"{part}" in attributes',
            "from": f"attributes.{part}",
            "to": f'resource["splitbed.{part}"]',
        }
        for part in parts
    ]
    return [
        {"type": "regex_parser", "if": fits, "regex": pattern, "parse_from": _POD, "parse_to": "attributes"},
        *moves,
    ]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _exporter(destination: CloudWatch | Files) -> tuple[str, dict[str, object]]:
    if isinstance(destination, Files):
        # With rotation each write goes straight to the file; without, the last second would be in memory.
        return "file", {
            "path": f"{destination.directory}/${{env:NODE_NAME}}.jsonl",
            "rotation": {"max_megabytes": _FILE_MB, "max_backups": _FILES_KEPT},
        }
    return "otlp_http", {
        "logs_endpoint": f"{destination.endpoint}/v1/logs",
        "auth": {"authenticator": "sigv4auth"},
        "headers": {"x-aws-log-group": destination.group, "x-aws-log-stream": STREAM},
        "compression": "gzip",
        "timeout": "30s",
        "retry_on_failure": {
            "enabled": True,
            "initial_interval": "1s",
            "max_interval": "30s",
            "max_elapsed_time": "0s",
        },
        "sending_queue": {
            "storage": "file_storage",
            "sizer": "bytes",
            "queue_size": _QUEUE_BYTES,
            "block_on_overflow": True,  # then files wait, and none is skipped
            "num_consumers": 1,  # lines arrive in their order
            "batch": {"flush_timeout": "500ms", "min_size": _OTLP_BYTES // 4, "max_size": _OTLP_BYTES},
        },
    }
