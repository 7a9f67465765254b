"""One comment and one issue, kept up to date on a double of GitHub."""

import pytest

from forge import upsert
from forge.github import Answer, ForgeError, GitHub
from forge.upsert import AUTHOR
from tests.forge.github import TOKEN, Repository, answer

MARK = "<!-- splitbed review -->"
BODY = f"{MARK}\nfirst"
NOW = 1_000_000.0


class Bench:
    """A repository with a pull request, and a client whose waits are counted and take no time."""

    def __init__(self, **more: object) -> None:
        self.repository = Repository(**more)  # type: ignore[arg-type]
        self.slept: list[float] = []
        self.github = GitHub(
            repository=self.repository.name, token=TOKEN, send=self.repository, address="https://api.example",
            sleep=self.slept.append, now=lambda: NOW,
        )  # fmt: skip
        self.pull = self.repository.thread(pull=True, login="somebody", body="please")

    def comment(self, body: str = BODY) -> upsert.Outcome:
        return upsert.comment(self.github, self.pull, MARK, body)

    @property
    def bodies(self) -> list[str]:
        return [one["body"] for one in self.repository.comments]


def test_a_comment_is_made_once_and_then_changed_in_place() -> None:
    bench = Bench()
    made = bench.comment()
    assert (made.done, bench.bodies) == ("made", [BODY])
    changed = bench.comment(f"{MARK}\nsecond")
    assert (changed.done, changed.url, bench.bodies) == ("changed", made.url, [f"{MARK}\nsecond"])


def test_what_says_the_same_is_left_alone_also_with_the_line_ends_that_github_makes() -> None:
    bench = Bench()
    bench.repository.say(bench.pull, AUTHOR, BODY.replace("\n", "\r\n"))
    assert bench.comment().done == "kept"
    assert all(method == "GET" for method, _ in bench.repository.requests)


@pytest.mark.parametrize("others", [0, 99, 100, 250])
def test_it_is_found_on_whatever_page_it_is(others: int) -> None:
    bench = Bench()
    for number in range(others):
        bench.repository.say(bench.pull, "somebody", f"remark {number}")
    bench.comment()
    assert bench.comment(f"{MARK}\nsecond").done == "changed"
    assert len(bench.bodies) == others + 1


def test_a_strangers_comment_is_not_taken_for_ours_whatever_it_says() -> None:
    bench = Bench()
    bench.repository.say(bench.pull, "somebody", BODY)
    bench.repository.say(bench.pull, AUTHOR, f"I quote:\n{MARK}")
    assert bench.comment().done == "made"
    assert len(bench.bodies) == 3


def test_another_pull_request_has_a_comment_of_its_own() -> None:
    bench = Bench()
    bench.comment()
    other = bench.repository.thread(pull=True, login="somebody", body="another")
    assert upsert.comment(bench.github, other, MARK, BODY).done == "made"


def test_an_issue_is_opened_changed_and_closed_and_a_closed_one_stays() -> None:
    bench = Bench()
    bench.repository.thread(pull=False, login=AUTHOR, body=BODY, state="closed")
    bench.repository.thread(pull=True, login=AUTHOR, body=BODY)
    assert upsert.settle(bench.github, MARK).done == "nothing"
    made = upsert.issue(bench.github, MARK, "late", BODY)
    assert made.done == "made"
    assert upsert.issue(bench.github, MARK, "late", BODY).done == "kept"
    changed = upsert.issue(bench.github, MARK, "later", f"{MARK}\nmore")
    assert (changed.done, changed.url) == ("changed", made.url)
    assert upsert.settle(bench.github, MARK).done == "closed"
    ours = [one for one in bench.repository.issues if "pull_request" not in one]
    assert [one["state"] for one in ours] == ["closed", "closed"]
    assert (ours[1]["title"], ours[0]["title"]) == ("later", "a title")


LIMITED = answer(403, {"message": "API rate limit exceeded"}, x_ratelimit_remaining="0", x_ratelimit_reset="1000030")
SECONDARY = answer(403, {"message": "You have exceeded a secondary rate limit."})


@pytest.mark.parametrize(
    ("refusal", "waits"),
    [
        (LIMITED, 31.0),
        (SECONDARY, 60.0),
        (answer(429, {}, retry_after="7"), 7.0),
        (answer(403, {"message": "slow down"}, retry_after="9"), 9.0),
        (answer(429, {}, retry_after="Tue, 01 Dec 2026 05:00:00 GMT"), 60.0),
        (answer(429, {}, x_ratelimit_remaining="0"), 60.0),
    ],
)
def test_a_limit_is_waited_for(refusal: object, waits: float) -> None:
    bench = Bench(refusals=[refusal, refusal])
    assert bench.comment().done == "made"
    assert bench.slept == [waits, waits]


def test_a_limit_that_lasts_is_said_with_its_length_and_not_waited_for() -> None:
    long = answer(403, {"message": "API rate limit exceeded"}, x_ratelimit_remaining="0", x_ratelimit_reset="1003600")
    bench = Bench(refusals=[long])
    with pytest.raises(ForgeError, match="for 3601 s more"):
        bench.comment()
    assert bench.slept == []


def test_a_limit_that_never_ends_is_given_up() -> None:
    bench = Bench(refusals=[SECONDARY] * 9)
    with pytest.raises(ForgeError, match="the rate limit is reached"):
        bench.comment()
    assert bench.slept == [60.0] * 3


def test_a_lack_of_rights_is_no_limit() -> None:
    bench = Bench(rights=frozenset())
    with pytest.raises(ForgeError) as refusal:
        bench.comment()
    assert "403 Resource not accessible by integration" in str(refusal.value)
    assert "pull-requests: write" in refusal.value.remedy
    assert bench.slept == []


def test_a_server_that_stumbles_is_asked_again_but_never_to_make_something_twice() -> None:
    bench = Bench(refusals=[answer(502, {})])
    assert bench.comment().done == "made"
    assert bench.slept == [2.0]
    bench.repository.comments.clear()

    def stumbling(method: str, url: str, headers: object, body: bytes | None) -> object:
        return answer(502, {}) if method == "POST" else bench.repository(method, url, headers, body)  # type: ignore[arg-type]

    github = GitHub(repository=bench.repository.name, token=TOKEN, send=stumbling, sleep=bench.slept.append)  # type: ignore[arg-type]
    with pytest.raises(ForgeError, match="502"):
        upsert.comment(github, bench.pull, MARK, BODY)
    assert bench.slept == [2.0]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (answer(301, {"message": "Moved Permanently"}), "301 Moved Permanently.*present name"),
        (Answer(200, {}, b"<html>please log in</html>"), "not JSON.*GITHUB_API_URL"),
    ],
)
def test_what_is_no_answer_of_the_repositorys_is_said(said: Answer, words: str) -> None:
    bench = Bench(refusals=[said])
    with pytest.raises(ForgeError, match=words):
        bench.comment()


def test_a_token_is_in_no_message_and_no_representation() -> None:
    bench = Bench()
    wrong = GitHub(repository="octo/experiments", token="another-" + TOKEN, send=bench.repository)
    with pytest.raises(ForgeError) as refusal:
        upsert.comment(wrong, bench.pull, MARK, BODY)
    assert "GITHUB_TOKEN is not valid" in str(refusal.value)
    assert TOKEN not in str(refusal.value) + repr(wrong) + repr(refusal.value.__cause__)


def test_a_text_without_its_mark_is_refused_before_anything_is_sent() -> None:
    bench = Bench()
    for body in ("no mark", MARK + "\n" + "x" * 70_000):
        with pytest.raises(ValueError, match="the text"):
            bench.comment(body)
    assert bench.repository.requests == []
