"""The verbs of `splitbed`, each imported only when it is called: a plan need not wait for a cluster's client."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from scripts.errors import ERRORS
from scripts.stopped import stopped

INTERRUPTED = 130  # as a shell tells of SIGINT

VERBS = {
    "plan": "What a stack needs, where it lands, what it costs, and whether to split at all. Nothing is made.",
    "explain": "What may stand in a stack file: meaning, type, unit and default of every setting.",
    "new": "A stack file of your own, from one that is there, with what is to differ.",
    "rehearse": "Bring stacks up on a real Kubernetes on this machine, measure, destroy, prove that nothing is left.",
    "bench": "Measure a server by a plan, from this machine; each repeat is a record that stays.",
    "campaign": "Topologies of one stack in turn on the same nodes, until the answer is clear or the budget is near.",
    "wait": "Follow a stack's benchmark to its end, and end as it does.",
    "fetch": "Bring the records of a stack's benchmark to this machine; nothing that is here is written over.",
    "compare": "Results of two or more topologies side by side: faster, slower, or no difference shown, and how sure.",
    "export": "Results as llm-d's benchmark report v0.2, and as flat CSV or Parquet tables.",
    "pin": "Look up what stacks take from outside, digests and versions, and write it down with its date.",
    "preflight": "What would otherwise be found out ten minutes into `pulumi up`. Nothing is made.",
    "review": "What a change does to stacks, as the comment of its pull request: dollars, placement, what is replaced.",
    "post": "Put such a text where it stood before: a pull request's one comment, or the one issue on end dates.",
    "extend": "Another end date for a stack: its file, what AWS does then, and all tags. No node is replaced.",
    "audit": "Whether all that lives in AWS says whose it is and when it ends, in all regions.",
    "expiry": "What in AWS has outlived its end date, by experiment, as an issue's text. Nothing is changed.",
    "logs": "What a stack's pods wrote, also those that are gone: from CloudWatch, or from files of its nodes.",
    "sweep": "What `pulumi destroy` has left behind in AWS; deleted only with --delete.",
    "image": "Build the stand-in engine's image and write it to a file.",
    "cluster": "A real Kubernetes on this machine, in namespaces of its own.",
    "catalogue": "Instance types and prices: the dated facts that a plan reads, and how to refresh them.",
    "schema": "Write what is generated from the models: JSON Schemas of stack files and records, and a reference page.",
    "tools": "The programs a rehearsal runs: find or build them.",
}
"""Every verb with its line in `splitbed --help`, in that order. `scripts/<verb>.py` has the `app` or the function."""


class Verbs(TyperGroup):
    """A group whose commands are modules; all but the one that is called stay a name and a line."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {verb: TyperCommand(verb, help=line) for verb, line in VERBS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was named, imported."""
        if args[0] in VERBS:
            self.commands[args[0]] = command(args[0])
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; whoever stops it by Ctrl-C is told how to go on."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ERRORS.print(f"\n{stopped(ctx.invoked_subcommand)}", soft_wrap=True, highlight=False)
            raise typer.Exit(INTERRUPTED) from None


def command(verb: str) -> Any:
    """Import a verb and return its command."""
    module = import_module(f"scripts.{verb}")
    above = typer.Typer(add_completion=False, pretty_exceptions_enable=False, callback=lambda: None)
    if hasattr(module, "app"):
        above.add_typer(module.app, name=verb)
    else:
        above.command(verb)(getattr(module, verb))
    group: Any = typer.main.get_command(above)
    return group.commands[verb]
