"""AWS's facts as two packages carry them, both under Apache-2.0: for who has no account at hand.

moto (PyPI) holds what EC2's DescribeInstanceTypes answers; Karpenter's provider for AWS (a Go module) a table of
on-demand prices that it generates from AWS's own.
"""

import gzip
import json
import re
import subprocess
import tempfile
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiment.errors import SplitbedError

if TYPE_CHECKING:
    from types_boto3_ec2.type_defs import InstanceTypeInfoTypeDef

KARPENTER = "github.com/aws/karpenter-provider-aws"
# renovate: datasource=go depName=github.com/aws/karpenter-provider-aws
KARPENTER_VERSION = "v1.14.0"

_PRICES = "pkg/providers/pricing/zz_generated.pricing_aws.go"
_GENERATED = re.compile(r"^// generated at (\d{4}-\d{2}-\d{2})T\S+ for (\S+)$", re.MULTILINE)
_REGION = re.compile(r'^\t"([a-z0-9-]+)": \{$(.*?)^\t\},$', re.MULTILINE | re.DOTALL)
_PRICE = re.compile(r'"([a-z0-9-]+\.[a-z0-9-]+)": (\d+\.\d+)')


def described() -> tuple[list["InstanceTypeInfoTypeDef"], str]:
    """Return moto's instance types as EC2 would answer, and the source to name.

    Raises:
        SplitbedError: moto, which only tests need, is not installed.
    """
    if find_spec("moto") is None:
        raise SplitbedError("moto is not installed.", "It comes with the development dependencies.")
    packed = files("moto").joinpath("ec2/resources/instance_types.json.gz").read_bytes()
    types = json.loads(gzip.decompress(packed))
    return list(types.values()), f"EC2's DescribeInstanceTypes as kept by moto {version('moto')} (Apache-2.0)"


def prices() -> dict[str, dict[str, Any]]:
    """Return Karpenter's on-demand prices: `source`, `date` and `usd` an hour by instance type, of every region.

    Raises:
        SplitbedError: the module cannot be fetched, or its table has another form.
    """
    return parsed(_module().joinpath(_PRICES).read_text())


def parsed(table: str) -> dict[str, dict[str, Any]]:
    """Return the prices of one of Karpenter's generated tables.

    Raises:
        SplitbedError: it does not say when it was made, or holds no prices.
    """
    generated = _GENERATED.search(table)
    regions = dict(_REGION.findall(table))
    found = {region: {name: float(usd) for name, usd in _PRICE.findall(text)} for region, text in regions.items()}
    if generated is None or not any(found.values()):
        raise SplitbedError(
            f"{KARPENTER} {KARPENTER_VERSION} has no prices in {_PRICES} that can be read.",
            "Its form has changed: mend scripts/refresh/packages.py.",
        )
    source = f"on-demand, Linux, as generated from AWS's prices in {KARPENTER} {KARPENTER_VERSION} (Apache-2.0)"
    return {region: {"source": source, "date": generated[1], "usd": usd} for region, usd in found.items()}


def _module() -> Path:
    with tempfile.TemporaryDirectory() as empty:
        wanted = ["go", "mod", "download", "-json", f"{KARPENTER}@{KARPENTER_VERSION}"]
        done = subprocess.run(wanted, cwd=empty, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout or "{}")
    if "Dir" not in answer:
        raise SplitbedError(
            f"go could not download {KARPENTER} {KARPENTER_VERSION}: {answer.get('Error', done.stderr.strip())}",
            "Check the network and GOPROXY.",
        )
    return Path(answer["Dir"])
