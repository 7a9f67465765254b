"""One experiment, as its stack file describes it."""

from datetime import UTC, datetime

import pulumi

from components import cluster, lockfile, refusal
from components.testbed import Testbed
from experiment import pins
from experiment.errors import SplitbedError
from experiment.settings import ExpiredError, UnreadyError, before_up, load

try:
    known = lockfile.read()
    settings = pins.apply(load(pulumi.Config().get("experiment"), datetime.now(UTC)), known)
    unpinned = lockfile.unpinned(settings, known)
    if (missing := before_up(settings)) and not pulumi.runtime.is_dry_run():
        raise UnreadyError(missing)
    provider = cluster.provider(settings) if unpinned is None else None
except (ExpiredError, UnreadyError) as error:
    refusal.refuse("end-date", str(error))
except SplitbedError as error:
    raise pulumi.RunError(str(error)) from None
else:
    if provider is None:
        refusal.refuse("pins", str(unpinned))
    else:
        testbed = Testbed("testbed", settings, known, pulumi.ResourceOptions(providers=[provider]))
        for name, value in testbed.outputs.items():
            pulumi.export(name, value)
