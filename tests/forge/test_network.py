"""Requests as they go over a wire."""

import pytest

from forge import network, upsert
from forge.github import ForgeError, GitHub
from forge.upsert import AUTHOR
from tests.forge.github import TOKEN, Repository
from tests.forge.served import served

MARK = "<!-- splitbed review -->"


def test_a_comment_is_made_and_changed_over_a_wire() -> None:
    repository = Repository()
    pull = repository.thread(pull=True, login="somebody", body="please")
    with served(repository) as address:
        github = GitHub(repository=repository.name, token=TOKEN, send=network.send, address=address)
        upsert.comment(github, pull, MARK, f"{MARK}\none ü")
        assert upsert.comment(github, pull, MARK, f"{MARK}\ntwo").done == "changed"
    assert [(one["user"]["login"], one["body"]) for one in repository.comments] == [(AUTHOR, f"{MARK}\ntwo")]


def test_a_forge_that_is_not_there_is_named_without_the_token() -> None:
    github = GitHub(repository="octo/experiments", token=TOKEN, send=network.send, address="http://127.0.0.1:1")
    with pytest.raises(ForgeError, match=r"127\.0\.0\.1:1 cannot be reached") as refusal:
        upsert.settle(github, MARK)
    assert TOKEN not in str(refusal.value)
