"""A change as Git knows it: its paths, and the tree that it started from.

BranchError
    there is no such base, or this is no Git repository.
"""

import io
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import SplitbedError


class BranchError(SplitbedError):
    """Git cannot tell what changed."""


@dataclass(frozen=True)
class Branch:
    """The working tree against the commit where it left its base.

    Attributes:
        root: of the working tree.
        base: the commit, in full.
    """

    root: Path
    base: str

    @classmethod
    def of(cls, root: Path, base: str) -> "Branch":
        """Return what is in the working tree, against where it left `base`.

        Raises:
            BranchError: there is no such commit, or nothing that both have come from.
        """
        return cls(root, _git(root, "merge-base", "--end-of-options", base, "HEAD").decode().strip())

    def paths(self) -> tuple[str, ...]:
        """Return every path that differs, of files that are not committed yet, too; a moved file has two."""
        differing = _git(self.root, "diff", "--name-only", "--no-renames", "-z", self.base, "--")
        new = _git(self.root, "ls-files", "--others", "--exclude-standard", "-z")
        return tuple(sorted({path for path in (differing + new).decode().split("\0") if path}))

    def check_out(self, directory: Path) -> None:
        """Write the base's tree into an empty directory; the repository itself is not touched."""
        packed = _git(self.root, "archive", "--format=tar", self.base)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(directory, filter="data")


def _git(root: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        raise BranchError("git is not on PATH.", "Install it: what changed is asked of it.") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ") or "it found nothing"
        raise BranchError(
            f"git {arguments[0]}: {said}.",
            "Name a branch or commit by --base that is there in full: on a runner fetch it with its history.",
        )
    return done.stdout
