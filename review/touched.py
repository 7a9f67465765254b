"""Which stacks a change touches, by the paths that it changes."""

from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

NO_PROGRAM = frozenset(
    {
        ".ci", ".github", ".gitignore", ".pre-commit-config.yaml", "LICENSE", "Makefile", "campaign", "cloud", "docs",
        "forge", "rehearsal", "report", "review", "scripts", "stackfiles", "tests",
    }
)  # fmt: skip
"""Top-level names that no `pulumi up` reads. What is not here counts as program: nobody has said otherwise yet."""

_STACKS = "stacks"


def touched(paths: Iterable[str], stacks: Collection[str]) -> tuple[str, ...]:
    """Return the stacks that a change touches, in their order.

    A stack's file touches it, program code and its requirements touch all, documents and tools none.

    Args:
        paths: changed, added or removed, from the repository's root.
        stacks: all there are, before the change or after it.
    """
    named = set()
    for path in map(PurePosixPath, paths):
        if path.parts[0] in NO_PROGRAM or path.suffix == ".md":
            continue
        stack = _stack(path)
        if stack is None:
            return tuple(sorted(stacks))
        named.add(stack)
    return tuple(sorted(named & set(stacks)))


def _stack(path: PurePosixPath) -> str | None:
    if path.parent.parts == (_STACKS,) and path.name.startswith("Pulumi.") and path.suffix == ".yaml":
        return path.name.removeprefix("Pulumi.").removesuffix(".yaml")
    return None
