"""Records of a benchmark in a bucket, as the Job's sidecar has carried them there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from cloud.account import Account
from cloud.kinds.storage import BUCKET
from cloud.refusal import explained
from experiment import ownership, upload
from experiment.errors import SplitbedError
from experiment.handout import is_record_path

_MD5 = re.compile(r'"?(?P<digits>[0-9a-f]{32})"?')


class NoBucketError(SplitbedError):
    """There is no bucket from which records could be had, or more than one."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """One record in a bucket.

    Attributes:
        path: below a directory of results, as `RUN/PLAN/CELL-1.json`.
        size: in bytes.
        md5: of its content in hexadecimal digits; none if S3 does not say.
    """

    path: PurePosixPath
    size: int
    md5: str | None


class StoredResults:
    """The records of an experiment's runs in one bucket."""

    def __init__(self, account: Account, region: str, bucket: str, experiment: str) -> None:
        self._account, self._region, self._bucket, self._experiment = account, region, bucket, experiment

    def place(self, run: str) -> str:
        """Return where the records of a run are, for a person."""
        return f"s3://{self._bucket}/{upload.prefix(self._experiment, run)}"

    def records(self, run: str) -> tuple[Sequence[Stored], Sequence[str]]:
        """Return the records of a run, and the keys there that are none.

        Raises:
            AWSRefusedError: they may not be listed, or the bucket is gone.
        """
        prefix = f"{upload.prefix(self._experiment, run)}/"
        pages = self._account.pages(
            "s3", self._region, "list_objects_v2", "Contents", Bucket=self._bucket, Prefix=prefix
        )
        found, others = [], []
        for one in pages:
            path = f"{run}/{one['Key'].removeprefix(prefix)}"
            if not is_record_path(path):
                others.append(one["Key"])
                continue
            # Small objects that were put in one part, encrypted by S3's own keys, have their MD5 as ETag.
            digest = _MD5.fullmatch(one["ETag"])
            found.append(Stored(path=PurePosixPath(path), size=one["Size"], md5=digest["digits"] if digest else None))
        return found, others

    def read(self, record: Stored) -> bytes:
        """Return the content of a record; raises as `records`."""
        run, *below = record.path.parts
        key = "/".join([upload.prefix(self._experiment, run), *below])
        with explained("s3", self._region):
            body = self._account.client("s3", self._region).get_object(Bucket=self._bucket, Key=key)["Body"]
            content: bytes = body.read()
        return content


def bucket_of(account: Account, region: str, experiment: str) -> str:
    """Return the name of the bucket that a stack has made for an experiment; it may have outlived the stack.

    Raises:
        NoBucketError: there is none, or more than one.
        AWSRefusedError: buckets may not be listed.
    """
    names = sorted(
        thing.id for thing in BUCKET.find(account, region, ()) if thing.tags.get(ownership.EXPERIMENT) == experiment
    )
    if len(names) == 1:
        return names[0]
    if not names:
        raise NoBucketError(
            f"No bucket in {region} has the tag {ownership.EXPERIMENT}={experiment}.",
            "It is made by `pulumi up`, and goes at `pulumi destroy` unless benchmark.results.keep is true.",
        )
    raise NoBucketError(
        f"{len(names)} buckets in {region} are of {experiment}: {', '.join(names)}.",
        "Each `up` after a `destroy` makes its own. Name one: --bucket NAME.",
    )
