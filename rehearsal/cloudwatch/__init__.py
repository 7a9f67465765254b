"""A double of CloudWatch Logs' OTLP endpoint: takes what the real one takes, refuses what that refuses, keeps it all.

Endpoint
    checks method, signature, headers, group and stream of a request, and answers.
Faults
    what goes wrong at times, drawn by a seed.
Served
    the endpoint on a port, for as long as a `with` block.
"""

from rehearsal.cloudwatch.endpoint import Answer, Endpoint, Kept
from rehearsal.cloudwatch.faults import Faults
from rehearsal.cloudwatch.server import Served

__all__ = ["Answer", "Endpoint", "Faults", "Kept", "Served"]
