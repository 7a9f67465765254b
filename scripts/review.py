"""`splitbed review`: what a change does to stacks, as the comment that its pull request gets."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from campaign.pulumi_cli import PulumiError
from experiment import pins
from experiment.cluster import EksCluster
from experiment.errors import SplitbedError
from experiment.pins import Pins
from experiment.plan.plan import ExperimentPlan, make
from experiment.settings import KEY, ExpiredError, Settings, SettingsError
from review import planning
from review.branch import Branch
from review.difference import changed
from review.headlines import headlines
from review.markdown import as_markdown
from review.stackreview import StackReview
from review.state import resources
from review.step import steps, violations
from review.touched import touched
from stackfiles.stackfile import STACKS, StackFile, stacks

if TYPE_CHECKING:
    from rehearsal.comparison import Comparison, Version

REFUSED = 1
ROOT = STACKS.parent

_NEVER_PAST = datetime.min.replace(tzinfo=UTC)
_STAND_IN = timedelta(days=3)
_ON_PAPER = (
    "By the real engine over doubles of AWS, EKS and Kubernetes: the stack as it was is brought up there first. "
    "{deployed}Nothing was asked of any account, and the LeaderWorkerSet chart is compared by its values."
)
_ALL_NEW = "By the real engine over doubles of AWS, EKS and Kubernetes, with nothing there before: {why}."
_LIVE = "By the real engine against the live stack's state, with the providers of AWS and Kubernetes themselves."
_HALF = (
    "By the real engine against the live stack's state. Only the AWS half was compared: the API of its cluster cannot "
    "be reached from here."
)
_PLANS_ALONE = "The plans alone were compared: what is replaced is not known."


@dataclass(frozen=True)
class Side:
    """A stack before or after the change: its file and settings, as far as there are any, and that tree's pins."""

    project: Path
    path: Path
    file: StackFile | None
    settings: Settings | None
    pins: Pins


def review(
    base: Annotated[str, typer.Option(help="The branch or commit that the change is to go into.")] = "main",
    stack: Annotated[
        list[str] | None, typer.Option("--stack", help="Review this stack, touched or not; may be repeated.")
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(help="Where live stacks have their state, such as s3://BUCKET; read, never written to."),
    ] = None,
    plans_only: Annotated[
        bool, typer.Option("--plans-only", help="Leave the engine out: no Pulumi is needed.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write it into this file instead of printing it.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Tell what the working tree changes about stacks: dollars, placement, and what is replaced.

    A stack that is live in the backend is compared with its state; any other is brought up as it was over doubles, and
    what it will be is previewed there, without any account. Ends with 0 if all may go on, with 1 if a plan does not
    fit, is above its budget or breaks a policy, with 2 if that cannot be told.
    """
    now = datetime.now(UTC)
    branch = Branch.of(ROOT, base)
    with tempfile.TemporaryDirectory(prefix="splitbed-review-") as scratch:
        tree = Path(scratch) / "base"
        tree.mkdir()
        branch.check_out(tree)
        (tree / ".venv").symlink_to(ROOT / ".venv")  # in which an official language host runs programs
        names = _chosen(stack or [], branch, tree)
        engine = None if plans_only or not names else _Engine(Path(scratch), backend, now)
        found = [_reviewed(name, tree, now, engine) for name in names]
    text = json.dumps([one.to_json() for one in found], indent=2) + "\n" if json_output else as_markdown(found, base)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    else:
        typer.echo(text, nl=False)
    raise typer.Exit(REFUSED if any(one.wrong for one in found) else 0)


def _chosen(asked: list[str], branch: Branch, tree: Path) -> tuple[str, ...]:
    before = {
        path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in (tree / "stacks").glob("Pulumi.*.yaml")
    }
    known = before | set(stacks())
    if not asked:
        return touched(branch.paths(), known)
    for name in asked:
        if name not in known:
            StackFile.of(name)  # says which there are
    return tuple(sorted(set(asked)))


def _side(tree: Path, name: str) -> Side:
    """Read one side, whatever its end date.

    Raises:
        SplitbedError: its file is there, and cannot be read or is wrong.
    """
    path, lock = tree / "stacks" / f"Pulumi.{name}.yaml", tree / "stacks" / "pins.lock.json"
    known = pins.load(lock.read_text(encoding="utf-8"), str(lock)) if lock.is_file() else Pins()
    if not path.is_file():
        return Side(tree, path, None, None, known)
    file = StackFile.read(path)
    return Side(tree, path, file, file.check(_NEVER_PAST), known)


def _before(tree: Path, name: str) -> Side:
    """Read how it was; what cannot be read any more was not there, for all that can be told."""
    try:
        return _side(tree, name)
    except SplitbedError:
        return Side(tree, tree / "stacks" / f"Pulumi.{name}.yaml", None, None, Pins())


def _reviewed(name: str, tree: Path, now: datetime, engine: "_Engine | None") -> StackReview:
    before = _before(tree, name)
    earlier = planning.as_it_was(tree, before.path, now) if before.file else None
    try:
        after = _side(ROOT, name)
        if after.file is not None:
            after.file.check(now)
    except (SettingsError, SplitbedError) as error:
        return _unread(name, earlier, error)
    if after.settings is None:
        gone = "Its file is removed. If it is up, `pulumi destroy` must come before the merge."
        return StackReview(
            name=name, before=earlier, after=None, removed=True, settings=(), headlines=(), steps=None, basis=gone,
            wrong=(),
        )  # fmt: skip
    plan = make(after.settings, now)
    wrong = list(plan.stops)
    compared = None
    basis = _PLANS_ALONE
    if engine is not None and _can_be_tried(plan):
        compared = engine.compare(name, before, after)
        basis = compared.basis
        wrong += compared.wrong
    return StackReview(
        name=name,
        before=earlier,
        after=plan,
        removed=False,
        settings=changed(_settings(before), _settings(after)),
        headlines=headlines(
            before.settings, after.settings, compared.steps if compared else None, _unpinned(before, after)
        ),
        steps=compared.steps if compared else None,
        basis=basis,
        wrong=tuple(wrong),
    )


def _unread(name: str, earlier: ExperimentPlan | None, error: SplitbedError) -> StackReview:
    ended = isinstance(error, ExpiredError)
    why = f"{error.message} {error.remedy}".strip()
    return StackReview(
        name=name, before=earlier, after=None, removed=False, settings=(), headlines=(), steps=None,
        basis="" if ended else "Nothing was compared: the stack file cannot be read.", wrong=(why,),
    )  # fmt: skip


def _can_be_tried(plan: ExperimentPlan) -> bool:
    """Whether the program runs at all: the budget is left out where nobody pays."""
    return all(one.name == "over-budget" for one in plan.refusals) and not any(one.stops for one in plan.advice)


def _settings(side: Side) -> Mapping[str, Any]:
    found: Mapping[str, Any] = side.file.document["config"][KEY] if side.file else {}
    return found


def _unpinned(before: Side, after: Side) -> Iterator[str]:
    """Return what is not pinned, and was, or was not there to be."""
    if before.settings is None or after.settings is None:
        return
    was = pins.missing(pins.apply(before.settings, before.pins), before.pins)
    yield from (what for what in pins.missing(pins.apply(after.settings, after.pins), after.pins) if what not in was)


@dataclass(frozen=True)
class _Compared:
    steps: tuple[Any, ...] | None
    wrong: tuple[str, ...]
    basis: str


class _Engine:
    """The engine with what it needs, looked for once."""

    def __init__(self, scratch: Path, backend: str | None, now: datetime) -> None:
        from rehearsal.home import home
        from rehearsal.progress import ConsoleProgress
        from rehearsal.toolchain import Toolchain

        self._scratch, self._backend, self._now = scratch, backend, now
        self._progress = ConsoleProgress(Console(stderr=True))
        self._pulumi = Toolchain(home(), self._progress).ensure("pulumi")["pulumi"]

    def compare(self, name: str, before: Side, after: Side) -> _Compared:
        comparison = self._comparison(name)
        exported = self._exported(name) if self._backend else None
        if exported is not None:
            self._progress.step(f"{name}: pulumi preview, against the live stack's state")
            previewed, reached = comparison.with_live(exported, _version(after))
            found = tuple(step for step in steps(previewed.events) if reached or not step.in_kubernetes)
            return self._told(previewed, found, _LIVE if reached else _HALF)
        deployed = "It is not deployed. " if self._backend else ""
        if (why := _nothing_before(before, after)) is None:
            self._progress.step(f"{name}: as it was and as it will be, on paper (about half a minute)")
            try:
                previewed = comparison.on_paper(_version(before), _version(after))
            except PulumiError:
                why = "as it was, it cannot be brought up"
            else:
                return self._told(previewed, steps(previewed.events), _ON_PAPER.format(deployed=deployed))
        self._progress.step(f"{name}: on paper, with nothing there before")
        previewed = self._comparison(f"{name}").on_paper(None, _version(after))
        return self._told(previewed, steps(previewed.events), deployed + _ALL_NEW.format(why=why))

    def _told(self, previewed: Any, found: tuple[Any, ...], basis: str) -> _Compared:
        broken = violations(previewed.events)
        if previewed.refused and not broken:
            return _Compared(None, (previewed.refused,), basis)
        return _Compared(found, broken, basis)

    def _comparison(self, name: str) -> "Comparison":
        from rehearsal.comparison import Comparison

        return Comparison(
            pulumi=self._pulumi,
            root=Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._scratch)),
            stack=name,
            now=self._now,
            end=(self._now + _STAND_IN).replace(minute=0, second=0, microsecond=0),
            policies=ROOT / "policies",
            progress=self._progress,
        )

    def _exported(self, name: str) -> Mapping[str, Any] | None:
        """Return the state of a stack in the backend; None of one that is not up there.

        Raises:
            SplitbedError: the backend does not tell.
        """
        environment = {**os.environ, "PULUMI_BACKEND_URL": str(self._backend), "PULUMI_SKIP_UPDATE_CHECK": "true"}
        done = subprocess.run(
            [str(self._pulumi), "stack", "export", "--stack", name, "--non-interactive", "--color", "never"],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            if "no stack named" in done.stderr:
                return None
            raise SplitbedError(
                f"{self._backend} does not tell the state of {name}: {done.stderr.strip()}",
                "The backend's role must be able to read below .pulumi; without --backend it is not asked.",
            )
        found: Mapping[str, Any] = json.loads(done.stdout)
        return found if resources(found) else None


def _nothing_before(before: Side, after: Side) -> str | None:
    """Return why there is nothing to compare with on paper; None if there is something."""
    if before.settings is None or after.settings is None:
        return "the stack is new"
    old, new = before.settings.cluster, after.settings.cluster
    if old.kind != new.kind:
        return "it moves to another kind of cluster"
    if isinstance(old, EksCluster) and isinstance(new, EksCluster) and old.region != new.region:
        return f"it moves from {old.region} to {new.region}"
    return None


def _version(side: Side) -> "Version":
    from rehearsal.comparison import Version

    if side.file is None or side.settings is None:
        raise ValueError("a side without a file is compared with nothing")
    return Version(project=side.project, file=side.file, settings=side.settings, pins=side.pins)
