"""How the benchmark is run and where its results go."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from experiment.images import ImageReference
from experiment.resources import PodResources
from experiment.strict import Strict
from experiment.versions import AWS_CLI_IMAGE
from experiment.workload import Plan, Slug, Tests

StorageClassName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", max_length=253)]
Order = Literal["listed", "interleaved"]
BucketName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")]
AbsolutePath = Annotated[str, StringConstraints(pattern=r"^/[^\x00\n]*[^/\x00\n]$")]


class LocalResults(Strict):
    """A directory of the node that runs the benchmark; it is never removed, and must be writable without root."""

    kind: Literal["local"] = Field(description="local, claim or s3")
    path: AbsolutePath = Field(
        description="absolute path of a directory on the node, without a slash at its end; user 65532 must be able to "
        "write to it (one that is missing is made, but for root to write)"
    )


class ClaimedResults(Strict):
    """A volume that the cluster provides when it is claimed, and takes away with the experiment.

    Nobody but the benchmark's pod reads it, so the records are handed out through that pod's log too.
    """

    kind: Literal["claim"] = Field(description="local, claim or s3")
    storage_class: StorageClassName | None = Field(
        None, description="storage class of the volume; the cluster's default class if not given"
    )
    size_gib: int = Field(
        1, ge=1, le=65536, description="size of the volume in whole GiB; the least of some classes is 1"
    )


class S3Results(Strict):
    """A bucket, into which each record is put as soon as it is finished."""

    kind: Literal["s3"] = Field(description="local, claim or s3")
    bucket: BucketName | None = Field(
        None, description="a bucket that is there; one of the experiment's own if not given"
    )
    keep: bool = Field(
        True, description="true or false: leave the experiment's own bucket and its records when all else is destroyed"
    )
    image: ImageReference = Field(
        AWS_CLI_IMAGE, description="image with the AWS CLI, which carries the records; pinned, as from a mirror"
    )


Results = Annotated[LocalResults | ClaimedResults | S3Results, Field(discriminator="kind")]


class Benchmark(Strict):
    """One run of one plan. Another run id or plan measures anew; another attempt resumes what is not finished."""

    run: Slug = Field(description='run id, in quotes: "1"; give a new one after changing engine or topology')
    attempt: int = Field(1, ge=1, le=9999, description="raise it to start a failed run again; finished tests are kept")
    seed: int = Field(0, ge=0, description="seed of the prompts")
    tests: Tests = Field(description="the tests, each of a kind, with a name of its own")
    order: Order = Field(
        "interleaved",
        description="interleaved (round by round, one repeat of each, shuffled by seed: drift then hits all alike) or "
        "listed (one test after the other)",
    )
    tolerated: float = Field(0, ge=0, lt=1, description="share of the requests of a repeat that may fail")
    calibrate: bool = Field(True, description="true or false: measure the client itself against a server that is timed")
    results: Results = Field(description="where the records are kept")
    resources: PodResources = Field(
        default_factory=lambda: PodResources(cpu=0.5, memory_gib=0.5), description="what the benchmark's pod asks for"
    )
    request_timeout_s: float = Field(600, gt=0, description="seconds one request may take")
    ready_timeout_s: float = Field(900, gt=0, description="seconds to wait for the server before the first test")

    def plan(self, model: str) -> Plan:
        """Return what the client is told to do with the model of that served name."""
        return Plan(
            run=self.run,
            model=model,
            seed=self.seed,
            tests=self.tests,
            order=self.order,
            tolerated=self.tolerated,
            calibrate=self.calibrate,
            request_timeout_s=self.request_timeout_s,
            ready_timeout_s=self.ready_timeout_s,
        )
