"""`splitbed review`: what a change does to stacks, as the comment that its pull request gets."""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiment.errors import SplitbedError
from experiment.plan.plan import ExperimentPlan, make
from experiment.settings import ExpiredError
from review import planning
from review.branch import Branch
from review.difference import changed
from review.headlines import headlines
from review.markdown import as_markdown
from review.stackreview import StackReview
from review.touched import touched
from scripts import sides
from scripts.wholefile import put
from stackfiles.stackfile import STACKS, StackFile, stacks

if TYPE_CHECKING:
    from scripts.comparing import Engine

REFUSED = 1
ROOT = STACKS.parent

_PLANS_ALONE = "The plans alone were compared: what is replaced is not known."


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
        engine = None if plans_only or not names else _engine(Path(scratch), backend, now)
        found = [_reviewed(name, tree, now, engine) for name in names]
    text = json.dumps([one.to_json() for one in found], indent=2) + "\n" if json_output else as_markdown(found, base)
    if out is not None:
        put(out, text.encode())
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


def _reviewed(name: str, tree: Path, now: datetime, engine: "Engine | None") -> StackReview:
    before = sides.read_before(tree, name)
    earlier = planning.as_it_was(tree, before.path, now) if before.file else None
    try:
        after = sides.read(ROOT, name)
        if after.file is not None:
            after.file.check(now)
    except SplitbedError as error:
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
        settings=changed(before.plain, after.plain),
        headlines=headlines(
            before.settings, after.settings, compared.steps if compared else None, sides.unpinned(before, after)
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


def _engine(scratch: Path, backend: str | None, now: datetime) -> "Engine":
    """Return the engine; only who asks for it waits for the imports of its doubles."""
    try:
        from scripts.comparing import Engine
    except ModuleNotFoundError as error:
        remedy = "Run `make setup`, which installs what tests need, or take --plans-only."
        raise SplitbedError(f"The doubles of AWS need {error.name}, which is not installed.", remedy) from None
    return Engine(scratch, backend, now)


def _can_be_tried(plan: ExperimentPlan) -> bool:
    """Whether the program runs at all: the budget is left out where nobody pays."""
    return all(one.name == "over-budget" for one in plan.refusals) and not any(one.stops for one in plan.advice)
