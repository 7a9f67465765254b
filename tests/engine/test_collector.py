"""The real collector with the program's own configuration, killed again and again, on a directory like a node's."""

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from botocore.credentials import Credentials

from experiment import names, shipping
from experiment.logline import Line, of_otlp
from experiment.shipping import CloudWatch, Files, Source
from rehearsal.cloudwatch import Endpoint, Faults, Kept, Served
from rehearsal.home import home
from rehearsal.toolchain import Toolchain

pytestmark = [pytest.mark.engine, pytest.mark.long]

EXPERIMENT = "some-split"
NAMESPACE = names.object_name(EXPERIMENT)
KEYS = Credentials("AKIDTEST", "a secret of the test's")
FAULTS = Faults(seed=6, throttled=0.15, unavailable=0.15, unanswered=0.1, warned=0.1)
ROUNDS = 8
"""How often lines are written and the collector is killed."""

LINES = 60
"""Of each file in a round."""

PODS = {
    f"{NAMESPACE}-0": ("0a-1", "engine"),
    f"{NAMESPACE}-0-1": ("0b-1", "engine"),
    f"{names.job_name('r7', '0123456789ab', 2)}-abcde": ("0c-1", "benchmark"),
}


class Quiet:
    """Progress that nobody reads."""

    def step(self, text: str) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class Node:
    """Its directories, and the collector on it."""

    def __init__(self, root: Path, binary: Path, destination: CloudWatch | Files) -> None:
        self.logs = root / "logs"
        (root / "kept").mkdir()
        source = Source(experiment=EXPERIMENT, logs=str(self.logs), kept=str(root / "kept"))
        config = root / "collector.json"
        config.write_text(json.dumps(shipping.configuration(source, destination)))
        self._argv = [str(binary), f"--config={config}", f"--feature-gates={','.join(shipping.FEATURES)}"]
        self._said = root / "collector.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._said.open("ab") as said:
            self._process = subprocess.Popen(
                self._argv,
                stderr=said,
                env={
                    "NODE_NAME": "engine-0",
                    "POD_IP": "127.0.0.1",
                    "AWS_EC2_METADATA_DISABLED": "true",
                    "AWS_ACCESS_KEY_ID": str(KEYS.access_key),
                    "AWS_SECRET_ACCESS_KEY": str(KEYS.secret_key),
                },
            )

    def kill(self) -> None:
        assert self._process is not None
        assert self._process.poll() is None, self._said.read_text()
        self._process.kill()
        self._process.wait()

    def write(self, namespace: str, pod: str, uid: str, container: str, texts: list[str]) -> None:
        file = self.logs / f"{namespace}_{pod}_{uid}" / container / "0.log"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as log:
            for text in texts:
                log.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z stdout F {text}\n")

    def rotate(self, pod: str, uid: str, container: str, number: int) -> None:
        file = self.logs / f"{NAMESPACE}_{pod}_{uid}" / container / "0.log"
        file.rename(file.with_name(f"0.log.20261130-22000{number}"))


@pytest.fixture(scope="module")
def binary() -> Path:
    return Toolchain(home(), Quiet()).ensure("otelcol")["otelcol"]


def written(node: Node, seed: int) -> dict[str, list[str]]:
    """Write round after round, kill the collector at a random moment of each; return each pod's lines."""
    draw = random.Random(seed)  # noqa: S311  a simulation
    found: dict[str, list[str]] = {pod: [] for pod in PODS}
    for number in range(ROUNDS):
        node.start()
        time.sleep(draw.uniform(0, 2))
        for pod, (uid, container) in PODS.items():
            texts = [f"{pod} {number} {each}" for each in range(LINES)]
            found[pod] += texts
            node.write(NAMESPACE, pod, uid, container, texts)
        node.write("exp-other", "exp-other-0", "0d-1", "engine", ["of another experiment"])
        node.write(f"{NAMESPACE}-logs", "log-shipper-abcde", "0e-1", "collector", ["the shipper's own"])
        time.sleep(draw.uniform(0, 2))
        node.kill()
        if number % 3 == 2:
            for pod, (uid, container) in PODS.items():
                node.rotate(pod, uid, container, number)
    node.start()
    return found


def settled(files: Callable[[], Iterable[Path]]) -> None:
    """Wait until the files have not grown for ten seconds."""
    last, since = -1, time.monotonic()
    while time.monotonic() - since < 10:
        if (size := sum(file.stat().st_size for file in files())) != last:
            last, since = size, time.monotonic()
        time.sleep(0.5)


def test_every_line_reaches_cloudwatch_and_counts_once(binary: Path, tmp_path: Path) -> None:
    destination = shipping.cloudwatch(EXPERIMENT, "us-east-1")
    endpoint = Endpoint(destination.group, [shipping.STREAM], "us-east-1", KEYS, lambda: datetime.now(UTC), FAULTS)
    file = tmp_path / "taken.jsonl"
    with Served(endpoint, ("127.0.0.1", 0), file) as served:
        node = Node(tmp_path, binary, replace(destination, endpoint=served.url))
        wanted = written(node, seed=1)
        settled(lambda: tmp_path.glob(file.name))
        node.kill()
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    taken = [Kept(**entry["taken"]) for entry in entries if "taken" in entry]
    refused = Counter(entry["refused"]["status"] for entry in entries if "refused" in entry)
    lines = [line_of(kept) for kept in taken]
    check(wanted, lines)
    assert set(refused) <= {0, 429, 503}, "no signature, group or stream was wrong"
    assert len(refused) == 3, "each of the faults befell somebody"
    (run,) = {kept.resource["splitbed.run"] for kept in taken if kept.resource["k8s.container.name"] == "benchmark"}
    assert run == "r7"
    print(
        f"{len(lines)} lines taken, {len({line.identity for line in lines})} of them different, refused {dict(refused)}"
    )


def line_of(kept: Kept) -> Line:
    return Line(
        time_ns=kept.time_ns,
        text=kept.body,
        pod=kept.resource["k8s.pod.name"],
        uid=kept.resource["k8s.pod.uid"],
        container=kept.resource["k8s.container.name"],
        restart=kept.resource["k8s.container.restart_count"],
        offset=kept.attributes["log.file.record_offset"],
        group=kept.resource.get("splitbed.group", ""),
    )


def test_every_line_reaches_the_file_and_counts_once(binary: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    node = Node(tmp_path, binary, Files(directory=str(files)))
    wanted = written(node, seed=2)
    settled(files.iterdir)
    node.kill()
    lines = [line for file in files.iterdir() for line in of_otlp(file.read_text())]
    check(wanted, lines)
    assert {line.node for line in lines} == {"engine-0"}
    print(f"{len(lines)} lines in the file, {len({line.identity for line in lines})} of them different")


def check(wanted: dict[str, list[str]], lines: list[Line]) -> None:
    """Hold the lines, each identity once, against what was written: all of it, and of nobody else."""
    different = {line.identity: line for line in lines}.values()
    assert Counter((line.pod, line.text) for line in different) == Counter(
        (pod, text) for pod, texts in wanted.items() for text in texts
    )
    assert {line.uid for line in different} == {uid for uid, _ in PODS.values()}
    assert {line.group for line in different if line.container == "engine"} == {"0"}
