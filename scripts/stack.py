"""A stack as a command was told of it, whatever its end date."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from experiment.cluster import EksCluster
from experiment.errors import SplitbedError
from experiment.settings import Settings
from stackfiles import stackfile
from stackfiles.stackfile import StackFile

_NEVER_PAST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Stack:
    """Its name, its file, and the settings in it."""

    name: str
    path: Path
    settings: Settings

    @property
    def cluster(self) -> EksCluster:
        """The cluster of its own in AWS.

        Raises:
            SplitbedError: it has none.
        """
        if not isinstance(self.settings.cluster, EksCluster):
            raise SplitbedError(
                f"{self.name} runs on a cluster that was given, and has nothing in AWS.",
                "Name a stack whose cluster is of kind eks.",
            )
        return self.settings.cluster


def read(stack: str) -> Stack:
    """Read a stack by its name, or by the path of its file; one whose end date has passed is read too.

    Raises:
        SplitbedError: there is none, or it cannot be read.
    """
    name, path, file = located(stack)
    return Stack(name, path, file.check(_NEVER_PAST))


def located(stack: str) -> tuple[str, Path, StackFile]:
    """Return a stack's name, the path of its file, and the file as it is, unchecked; raises as `read`."""
    if "/" in stack or stack.endswith((".yaml", ".yml")):
        path = Path(stack).resolve()
        return path.name.removeprefix("Pulumi.").removesuffix(path.suffix), path, StackFile.read(path)
    return stack, stackfile.STACKS / f"Pulumi.{stack}.yaml", StackFile.of(stack)


def known() -> tuple[str, ...]:
    """Return the names of all tracked stacks."""
    return stackfile.stacks()
