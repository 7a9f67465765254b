"""What a stack past its end date comes to: `up` and `preview` stop before anything is made, `destroy` does not stop."""

from typing import NoReturn

import pulumi


def refuse(message: str) -> None:
    """Register, in place of an experiment that has ended, the one thing that cannot be created.

    A program is not told which command runs it, and `destroy --run-program` runs it too. But a destroy creates
    nothing, so what refuses to be created stops the other commands alone.
    """

    def say(_: pulumi.ResourceHookArgs) -> NoReturn:
        raise pulumi.RunError(message)

    hook = pulumi.ResourceHook("end-date", say, pulumi.ResourceHookOptions(on_dry_run=True))
    pulumi.Stash(
        "end-date",
        input=message,
        opts=pulumi.ResourceOptions(hooks=pulumi.ResourceHookBinding(before_create=[hook])),
    )
