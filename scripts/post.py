"""`splitbed post`: put a text where it stood before: a pull request's one comment, the one issue of an audit."""

import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from experiment.errors import SplitbedError
from forge import network, upsert
from forge.github import ADDRESS, GitHub
from forge.upsert import AUTHOR, LONGEST, Outcome

TOKEN = "GITHUB_TOKEN"  # noqa: S105  a name
_MARK = re.compile(r"<!-- splitbed [a-z -]+ -->")
_WRITTEN = "Take what `splitbed review --out` or `splitbed expiry --out` has written."

Repository = Annotated[str, typer.Option(envvar="GITHUB_REPOSITORY", help="OWNER/NAME; on a runner it is known.")]
File = Annotated[Path, typer.Option(help="The text; its first line is the mark by which it is found again.")]
Author = Annotated[str, typer.Option(help="Whose comment or issue may be changed: who the token is.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be sent, and send nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")]

app = typer.Typer(no_args_is_help=True, help="Put a text where it stood before; the token is that of GITHUB_TOKEN.")


@app.command()
def comment(
    pull: Annotated[int, typer.Option(help="Number of the pull request.", min=1)],
    file: File,
    repository: Repository,
    author: Author = AUTHOR,
    dry_run: DryRun = False,
    json_output: Json = False,
) -> None:
    """Write a pull request's one comment, or put its new text in its place."""
    mark, body = text(file)
    if dry_run:
        typer.echo(f"would be the comment of {repository}#{pull}: {len(body)} characters, found by {mark}")
        return
    told(upsert.comment(github(repository), pull, mark, body, author), json_output=json_output)


@app.command()
def issue(
    file: File,
    repository: Repository,
    title: Annotated[str, typer.Option(help="Of the issue.")] = "Experiments past their end date",
    settled: Annotated[
        bool, typer.Option("--settled", help="Nothing is left to tell: close it if it is open.")
    ] = False,
    author: Author = AUTHOR,
    dry_run: DryRun = False,
    json_output: Json = False,
) -> None:
    """Open the one issue, or put its new text in its place; with --settled, close it."""
    mark, body = text(file)
    if dry_run:
        typer.echo(f"would {'close' if settled else 'be'} the issue of {repository} found by {mark}: {title}")
        return
    where = github(repository)
    done = upsert.settle(where, mark, author) if settled else upsert.issue(where, mark, title, body, author)
    told(done, json_output=json_output)


def text(file: Path) -> tuple[str, str]:
    """Return a file's mark and the whole of it.

    Raises:
        SplitbedError: it cannot be read, has no mark, or is too long.
    """
    try:
        body = file.read_text(encoding="utf-8")
    except OSError as error:
        raise SplitbedError(f"{file}: {error.strerror}.", _WRITTEN) from None
    except UnicodeDecodeError as error:
        raise SplitbedError(f"{file} is no text in UTF-8: byte {error.start + 1}.", _WRITTEN) from None
    mark = body.partition("\n")[0]
    if not _MARK.fullmatch(mark):
        raise SplitbedError(f"{file}: its first line is no mark of ours, so it would not be found again.", _WRITTEN)
    if len(body) > LONGEST:
        raise SplitbedError(f"{file} has {len(body)} characters, and GitHub takes {LONGEST}.", "Post a shorter one.")
    return mark, body


def github(repository: str) -> GitHub:
    """Return the repository with the environment's token.

    Raises:
        SplitbedError: there is no token, or the name is none.
    """
    token = os.environ.get(TOKEN, "").strip()  # of a pasted secret's line end no header can be made
    if not token:
        raise SplitbedError(f"{TOKEN} is not set.", "Set it in the environment; it is taken from nowhere else.")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise SplitbedError(
            f"--repository {repository}: this is not OWNER/NAME.", "Write for example octo/experiments."
        )
    address = os.environ.get("GITHUB_API_URL", ADDRESS)
    return GitHub(repository=repository, token=token, send=network.send, address=address)


def told(outcome: Outcome, *, json_output: bool) -> None:
    """Print what was done."""
    typer.echo(json.dumps(asdict(outcome)) if json_output else f"{outcome.done} {outcome.url}".rstrip())
