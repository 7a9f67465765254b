"""One experiment, as its stack file describes it."""

from datetime import UTC, datetime

import pulumi

from components import cluster, expiry
from components.testbed import Testbed
from experiment.errors import SplitbedError
from experiment.settings import ExpiredError, load

try:
    settings = load(pulumi.Config().get("experiment"), datetime.now(UTC))
    provider = cluster.provider(settings.cluster)  # type: ignore[arg-type]  # EKS comes with components.aws
except ExpiredError as error:
    expiry.refuse(str(error))
except SplitbedError as error:
    raise pulumi.RunError(str(error)) from None
else:
    testbed = Testbed("testbed", settings, pulumi.ResourceOptions(providers=[provider]))
    for name, value in testbed.outputs.items():
        pulumi.export(name, value)
