"""What the CLI printed (recorded from 3.274.1), read."""

import pytest

from campaign.pulumi_output import diagnostics, finished_step

FAILED_UP = """\
Updating (two):
    pulumi:pulumi:Stack t1-two running warning: using pulumi-language-python from $PATH at /x/pulumi-language-python
    pulumi:pulumi:Stack t1-two running error: a.b: found 3
    pulumi:pulumi:Stack t1-two running c.d: found 4
@ updating........
    pulumi:pulumi:Stack t1-two  1 warning; 2 messages
Diagnostics:
  pulumi:pulumi:Stack (t1-two):
    error: a.b: found 3
    c.d: found 4

    warning: using pulumi-language-python from $PATH at /x/pulumi-language-python

Resources:
    1 unchanged
"""


def test_diagnostics_are_cut_out_of_a_failed_command() -> None:
    assert diagnostics(FAILED_UP.splitlines()) == (
        "  pulumi:pulumi:Stack (t1-two):\n    error: a.b: found 3\n    c.d: found 4"
    )


def test_without_diagnostics_all_that_was_printed_is_kept() -> None:
    assert diagnostics(["error: no stack named x", ""]) == "error: no stack named x"


@pytest.mark.parametrize(
    ("line", "step"),
    [
        (" +  kubernetes:core/v1:Service serving-leader created (1s)", "created Service serving-leader"),
        (" -  kubernetes:batch/v1:Job benchmark deleted (0.5s)", "deleted Job benchmark"),
        (
            " +- kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet exp replaced (9s)",
            "replaced LeaderWorkerSet exp",
        ),
        (" ++ kubernetes:core/v1:ConfigMap plan created (0.1s)", "created ConfigMap plan"),
        (" +  kubernetes:core/v1:Service serving-leader creating (1s)", None),
        ("@ updating.....", None),
        ("    pulumi:pulumi:Stack t1-two  1 warning", None),
        ("Resources:", None),
        ("    + 1 created", None),
    ],
)
def test_finished_steps_are_told_and_no_others(line: str, step: str | None) -> None:
    assert finished_step(line) == step
