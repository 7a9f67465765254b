"""Plans as files of the documentation: a picture of the terminal, Markdown, and the schema of the JSON."""

import io
import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.console import Console

from experiment.plan import words
from experiment.plan.plan import ExperimentPlan
from report.plan_markdown import as_markdown, plain
from report.plan_terminal import WIDTH, as_terminal

SCHEMA = "plan.schema.json"
_ABOUT = (
    "Made by `make plans` for {now:%Y-%m-%d %H:%M} UTC; a test fails when they are stale. Nothing was asked of AWS: "
    "prices carry the day on which they were read. What `splitbed plan STACK --json` prints is described by "
    "[{schema}]({schema})."
)


def pages(plans: Sequence[tuple[str, ExperimentPlan]], now: datetime) -> Iterator[tuple[str, str]]:
    """Return every file with its content.

    Args:
        plans: by the names of their stacks.
        now: the moment for which they were made.
    """
    yield "README.md", _index(plans, now)
    yield SCHEMA, json.dumps(ExperimentPlan.model_json_schema(mode="serialization"), indent=1) + "\n"
    for stack, plan in plans:
        yield f"{stack}.md", f"![the plan of {stack}]({stack}.svg)\n\n{as_markdown(plan)}"
        yield f"{stack}.svg", as_svg(stack, plan)


def as_svg(stack: str, plan: ExperimentPlan) -> str:
    """Return a picture of what `splitbed plan` prints."""
    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    console.print(as_terminal(plan))
    return console.export_svg(title=f"splitbed plan {stack}", unique_id=f"plan-{stack}")


def _index(plans: Sequence[tuple[str, ExperimentPlan]], now: datetime) -> str:
    lines = [
        "# Plans of the stacks",
        "",
        _ABOUT.format(now=now, schema=SCHEMA),
        "",
        "| stack | plan | topology | on | an hour | planned run |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for stack, plan in plans:
        money = plan.money
        cells = (
            f"[{stack}]({stack}.md)",
            plain(words.verdict(plan)),
            plain(plan.subject.topology),
            plain(plan.subject.nodes),
            words.known_usd(money, money.hour_usd) if money else "",
            words.known_usd(money, money.run_usd) if money and money.run_usd is not None else "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
