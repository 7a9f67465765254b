"""Whether the records of a plan fit into the log that they come through (docs/decisions/0005)."""

from experiment.benchmark import Benchmark
from experiment.errors import SplitbedError

_LOG_BYTES = 10 * 1024 * 1024  # a kubelet's containerLogMaxSize, unless somebody set it; what is older is cut off
_SHARE = 0.9  # for records: the client's own lines, failed repeats and the runtime's stamps take the rest
# A request of n tokens has n stamps and n - 1 gaps, each a double of up to 18 and 21 characters with its comma. What
# stands beside them in a record, and of each request, does not grow with the tokens.
_REPEAT_BYTES, _REQUEST_BYTES, _TOKEN_BYTES = 6000, 1000, 45


def expected_bytes(benchmark: Benchmark) -> int:
    """Return about what the records of all repeats take as lines of a log, if every request is answered whole."""
    repeats = sum(cell.repeats for test in benchmark.tests for cell in test.cells)
    requests = sum(
        work.requests * (_REQUEST_BYTES + _TOKEN_BYTES * work.output_tokens)
        for test in benchmark.tests
        for work in test.work
    )
    return repeats * _REPEAT_BYTES + requests


def require_room(stack: str, benchmark: Benchmark) -> None:
    """Refuse a plan whose first records would be cut off before anybody has read them.

    Raises:
        SplitbedError: with how many repeats there are, and how many fit.
    """
    needed, room = expected_bytes(benchmark), int(_LOG_BYTES * _SHARE)
    if needed > room:
        repeats = sum(cell.repeats for test in benchmark.tests for cell in test.cells)
        fit = int(repeats * room / needed)
        raise SplitbedError(
            f"Stack {stack}: the records of benchmark.tests, {repeats} repeats in all, take about "
            f"{needed / 1e6:.1f} MB, and a kubelet keeps {_LOG_BYTES / 1e6:.1f} MB of the log that they come through.",
            f"Split the plan into runs of at most {fit} such repeats, each with its own run id.",
        )
