"""A stack of which nothing is to be made: `up` stops before the first resource, `destroy` does not stop."""

from typing import NoReturn

import pulumi


def refuse(name: str, message: str) -> None:
    """Register, in place of an experiment, the one thing that cannot be created.

    A program is not told which command runs it, and `destroy --run-program` runs it too. But a destroy creates
    nothing, so what refuses to be created stops the other commands alone.

    Args:
        name: what is in the way, such as `end-date`.
        message: said to the person.
    """

    def say(_: pulumi.ResourceHookArgs) -> NoReturn:
        raise pulumi.RunError(message)

    hook = pulumi.ResourceHook(name, say, pulumi.ResourceHookOptions(on_dry_run=True))
    pulumi.Stash(
        name,
        input=message,
        opts=pulumi.ResourceOptions(hooks=pulumi.ResourceHookBinding(before_create=[hook])),
    )
