"""One experiment, as its stack file describes it."""

from datetime import UTC, datetime

import pulumi

from components import cluster, foreign, lockfile, planned, ready, refusal
from components.testbed import Testbed
from experiment import pins
from experiment.errors import SplitbedError
from experiment.settings import ExpiredError, load

try:
    known = lockfile.read()
    now = datetime.now(UTC)
    settings = pins.apply(load(pulumi.Config().get("experiment"), now), known)
    plan = planned.checked(settings, now)
    ready.check(settings, known)
    foreign.check(settings)
    provider = cluster.provider(settings)
except ExpiredError as error:
    refusal.refuse("end-date", str(error))
except ready.UnreadyError as error:
    refusal.refuse("unready", str(error))
except planned.PlanRefusedError as error:
    refusal.refuse("plan", str(error))
except SplitbedError as error:
    raise pulumi.RunError(str(error)) from None
else:
    testbed = Testbed("testbed", settings, known, pulumi.ResourceOptions(providers=[provider]))
    for name, value in {**testbed.outputs, "plan": planned.output(plan)}.items():
        pulumi.export(name, value)
