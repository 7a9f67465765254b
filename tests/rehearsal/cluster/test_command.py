import pytest

from rehearsal.cluster import command
from rehearsal.cluster.status import ClusterError


def test_what_a_program_prints_is_returned() -> None:
    assert command.output("echo", "x") == "x\n"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("sh", "-c", "echo one >&2; echo no space left >&2; exit 3"), "failed: no space left"),
        (("sh", "-c", "exit 3"), "failed: exit status 3"),
        (("/nowhere/ctr", "version"), "`/nowhere/ctr version` did not work"),
    ],
)
def test_a_failure_is_one_sentence_with_the_command(argv: tuple[str, ...], says: str) -> None:
    with pytest.raises(ClusterError, match=says):
        command.output(*argv)
