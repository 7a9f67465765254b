"""`splitbed review` on prepared branches: the right headline for each, by the real engine over the doubles."""

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiment.pins import Pins
from experiment.settings import KEY
from rehearsal import standins
from rehearsal.home import home
from rehearsal.paper import ATTACHED, PaperPulumi, on_paper
from rehearsal.toolchain import Toolchain
from rehearsal.workspace import Workspace
from stackfiles.stackfile import StackFile
from tests.engine.plain_pulumi import Quiet
from tests.engine.prepared import Prepared
from tests.forge.github import TOKEN, Repository
from tests.forge.served import served

pytestmark = [pytest.mark.engine, pytest.mark.long]

STACK = "gemma-1b-split"
END, LATER = ((datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds") for days in (2, 4))
IMAGE = "docker.io/vllm/vllm-openai-cpu:v0.31.0"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """A repository whose stack has an end date and a pinned image."""
    Toolchain(home(), Quiet()).ensure("pulumi")
    found = Prepared.of(tmp_path_factory.mktemp("repository"))
    found.change(
        STACK,
        end_date=END,
        engine__image=f"{IMAGE}@sha256:{'ab' * 32}",
        budget__usd=200,
        benchmark__results={"kind": "s3", "keep": False},
    )
    found.commit("has an end date")
    return found


ONE_USER = [{"kind": "one-user", "prompt_tokens": 64, "output_tokens": 100, "repeats": 3}]
BRANCHES: dict[str, tuple[dict[str, Any], set[str], int]] = {
    "end date moved": ({"end_date": LATER}, {"end-date"}, 0),
    "instance type changed": ({"nodes__engine__instance": "m7g.4xlarge"}, {"nodes-replaced"}, 0),
    "disk changed": ({"nodes__engine__disk_gib": 200}, {"launch-template", "nodes-recycled"}, 0),
    "one node less": (
        {"nodes__engine__count": 1, "topology": {"kind": "single"}, "accept": None},
        {"node-count", "topology", "engine-replaced"},
        0,
    ),
    "benchmark changed": ({"benchmark__tests": ONE_USER}, {"benchmark-anew"}, 0),
    "topology changed": ({"topology": {"kind": "single"}, "accept": None}, {"topology", "engine-replaced"}, 0),
    "image unpinned": ({"engine__image": IMAGE}, {"unpinned", "engine-replaced"}, 0),
    "records elsewhere": (
        {"benchmark__results": {"kind": "s3", "bucket": "somebody-elses"}},
        {"bucket-lost"},
        0,
    ),
    "over budget": ({"budget__usd": 1, "nodes__engine__instance": "m7g.4xlarge"}, {"nodes-replaced"}, 1),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch_has_its_headline(repository: Prepared, name: str) -> None:
    changes, wanted, status = BRANCHES[name]
    repository.branch("change")
    repository.change(STACK, **changes)
    repository.commit(name)
    ended, (found,) = repository.review()
    assert ended == status, found["wrong"]
    assert found["stack"] == STACK
    assert {one["name"] for one in found["headlines"]} == wanted, json.dumps(found["headlines"])
    assert bool(found["wrong"]) == bool(status)
    assert "Nothing was asked of any account" in found["basis"]


def test_the_comment_of_a_branch_that_touches_two_stacks_and_of_a_stack_that_is_new(repository: Prepared) -> None:
    repository.branch("two")
    repository.change("rehearsal-split", benchmark__seed=7)
    stacks = repository.root / "stacks"
    text = (stacks / "Pulumi.rehearsal-single.yaml").read_text()
    (stacks / "Pulumi.another.yaml").write_text(text.replace("name: rehearsal-single", "name: another"))
    (stacks / "Pulumi.gemma-12b-single.yaml").unlink()
    repository.commit("two more")
    done = repository.splitbed("review", "--base", "main", "--out", "review.md")
    assert done.returncode == 0, done.stderr
    said = (repository.root / "review.md").read_text()
    assert said.startswith("<!-- splitbed review -->\n## Splitbed: 3 of 3 stacks change\n")
    assert "**rehearsal-split**: The benchmark starts anew" in said
    assert "### another: new, " in said
    assert "with nothing there before: the stack is new." in said
    assert "### gemma-12b-single: removed" in said
    (repository.root / "review.md").unlink()


def test_the_preview_jobs_own_steps_run_here(repository: Prepared, tmp_path: Path) -> None:
    """Both jobs of the workflow, step by step, against doubles of the cloud and of GitHub; twice, as a push would."""
    repository.branch("steps")
    jobs = yaml.safe_load((repository.root / ".github" / "workflows" / "preview.yml").read_text())["jobs"]
    (review,) = [step["run"] for step in jobs["review"]["steps"] if step.get("name") == "Review"]
    (summary,) = [step["run"] for step in jobs["review"]["steps"] if "SUMMARY" in step.get("run", "")]
    (post,) = [step["run"] for step in jobs["comment"]["steps"] if "run" in step]
    hub = Repository()
    number = hub.thread(pull=True, login="somebody", body="please")
    with served(hub) as address:
        more = {
            "BASE": "main",
            "BACKEND": "",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_REPOSITORY": hub.name,
            "GITHUB_API_URL": address,
            "PULL": str(number),
        }
        for seed in (1, 2):
            repository.change("rehearsal-split", benchmark__seed=seed)
            for step in (review, summary, post):
                done = repository.shell(step, more)
                assert done.returncode == 0, done.stderr
    (comment,) = hub.comments
    assert comment["body"].startswith("<!-- splitbed review -->")
    assert "| `benchmark.seed` | 0 | 2 |" in comment["body"]
    assert "The benchmark starts anew" in comment["body"]
    assert comment["body"] in (tmp_path / "summary.md").read_text()
    assert [method for method, _ in hub.requests] == ["GET", "POST", "GET", "PATCH"]


def test_a_change_of_documents_touches_nothing(repository: Prepared) -> None:
    repository.branch("documents")
    (repository.root / "docs" / "benchmark.md").write_text("other words")
    assert repository.review() == (0, [])


def test_a_wrong_stack_file_is_said_with_all_that_is_wrong(repository: Prepared) -> None:
    repository.branch("wrong")
    repository.change(STACK, ownr="me")
    ended, (found,) = repository.review()
    assert ended == 1
    assert "ownr: found" in found["wrong"][0]


def test_a_live_stack_is_compared_by_its_state_without_its_key(repository: Prepared, tmp_path: Path) -> None:
    """Its backend is only read: by a state that nobody here can unseal, and of which nothing is shown."""
    repository.branch("live")
    secret = "a-token-that-is-planted"  # noqa: S105  a test's
    pulumi = Toolchain(home(), Quiet()).ensure("pulumi")["pulumi"]
    workspace = Workspace(root=tmp_path / "live", stack=STACK)
    workspace.create()
    file = StackFile.read(repository.root / "stacks" / f"Pulumi.{STACK}.yaml").replaced(
        {"model.token_secret": {"config": "hub-token"}}
    )
    pins = tmp_path / "pins.json"
    pins.write_text(standins.completed(Pins(), [file.check(datetime.now(UTC))]).model_dump_json())
    with on_paper("us-east-1") as more:
        cli = PaperPulumi(
            executable=pulumi, plugins=[], project=repository.root, workspace=workspace, python=Path(sys.executable),
            more=more,
        )  # fmt: skip
        document = standins.private(file.document, KEY, end=None, pins=pins, kubeconfig=tmp_path / "none")
        StackFile(document).write(workspace.config_file)
        cli.prepare()
        cli.capture(
            "config", "set", "--secret", "hub-token", secret, "--stack", STACK, "--config-file",
            str(workspace.config_file), cwd=repository.root,
        )  # fmt: skip
        cli.up(Quiet())
        before = {path: path.read_bytes() for path in workspace.backend.rglob("*") if path.is_file()}
        live = {name: value for name, value in more.items() if name != ATTACHED}
        providers = ",".join(one for one in more[ATTACHED].split(",") if not one.startswith("kubernetes:"))
        live |= {ATTACHED: providers, "PATH": f"{Path(__file__).parents[2] / 'rehearsal/aws/bin'}:{os.environ['PATH']}"}

        sealed = yaml_with_token(repository, workspace.config_file)
        assert secret not in sealed
        ended, (unchanged,) = repository.review("--stack", STACK, "--backend", workspace.backend.as_uri(), more=live)
        repository.change(STACK, nodes__engine__instance="m7g.4xlarge")
        changed = repository.splitbed(
            "review", "--base", "main", "--stack", STACK, "--backend", workspace.backend.as_uri(), "--json", more=live
        )
    assert ended == 0, unchanged["wrong"]
    assert "Only the AWS half was compared" in unchanged["basis"]
    (found,) = json.loads(changed.stdout)
    assert found["headlines"][0]["name"] == "nodes-replaced"
    assert not [step for step in found["steps"] if step["type"].startswith("kubernetes:")]
    assert {path: path.read_bytes() for path in workspace.backend.rglob("*") if path.is_file()} == before
    assert secret not in changed.stdout + changed.stderr + json.dumps(unchanged)


def yaml_with_token(repository: Prepared, private: Path) -> str:
    """Put the sealed token, its salt and the token's name into the tracked file, as `pulumi config set` would."""
    path = repository.root / "stacks" / f"Pulumi.{STACK}.yaml"
    sealed = yaml.safe_load(private.read_text())
    document = yaml.safe_load(path.read_text())
    document["encryptionsalt"] = sealed["encryptionsalt"]
    document["config"]["splitbed:hub-token"] = sealed["config"]["splitbed:hub-token"]
    document["config"][KEY]["model"]["token_secret"] = {"config": "hub-token"}
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path.read_text()
