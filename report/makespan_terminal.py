"""How long `up` and `destroy` take, for a terminal: the chains that decide, link by link."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from experiment.makespan.timeline import Link, Makespan
from experiment.makespan.times import HANDS, Times
from experiment.plan.words import clock

_DIM = "bright_black"


def as_terminal(found: Times) -> RenderableType:
    """Return both chains, and how much of the first cannot be avoided."""
    avoidable = (
        f"{found.ratio:.3f} times the chain that cannot be avoided, with {HANDS} resources at a time, as Pulumi takes "
        "them on a machine with two cores."
    )
    return Group(
        _chain("pulumi up", found.up),
        Text(f"{avoidable}\n", style=_DIM),
        _chain("the chain that cannot be avoided", found.unavoidable),
        Text("What AWS, Kubernetes and the engine need, and nothing that is ordered besides.\n", style=_DIM),
        _chain("pulumi destroy", found.destroy),
    )


def _chain(title: str, span: Makespan) -> Table:
    table = Table(title=f"{title}: {clock(span.seconds)}", title_justify="left", title_style="bold", box=None)
    table.add_column("at", justify="right")
    table.add_column("takes", justify="right")
    table.add_column("what", overflow="fold")
    table.add_column("whose word", style=_DIM, overflow="fold")
    for link in span.chain:
        table.add_row(f"{link.began_s:.0f} s", f"{link.task.wait.seconds:.0f} s", _what(link), _word(link))
    return table


def _what(link: Link) -> str:
    return f"{link.task.what} (waited for its turn)" if link.for_a_hand else link.task.what


def _word(link: Link) -> str:
    return f"{link.task.wait.basis} ({link.task.wait.source})"


def as_data(found: Times) -> dict[str, object]:
    """Return the same as what `--json` prints."""
    spans = {"up": found.up, "unavoidable": found.unavoidable, "destroy": found.destroy}
    return {"ratio": round(found.ratio, 4), "hands": HANDS} | {name: _data(span) for name, span in spans.items()}


def _data(span: Makespan) -> dict[str, object]:
    return {
        "seconds": span.seconds,
        "chain": [
            {
                "what": link.task.what,
                "began_s": link.began_s,
                "seconds": link.task.wait.seconds,
                "for_a_hand": link.for_a_hand,
                "basis": link.task.wait.basis,
                "source": link.task.wait.source,
            }
            for link in span.chain
        ],
    }
