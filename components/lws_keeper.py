"""What holds up the end of a controller that an experiment uses and another one installed."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.admissionregistration.v1 import (
    MatchResourcesArgs,
    NamedRuleWithOperationsArgs,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicyBindingSpecArgs,
    ValidatingAdmissionPolicySpecArgs,
    ValidationArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs

from components import labels
from components.lws import GATE, NAMESPACE
from experiment import names


@dataclass(frozen=True, kw_only=True)
class LwsKeeperArgs:
    """Whose controller it is, and who needs it."""

    experiment: str
    installed_by: str


class LwsKeeper(pulumi.ComponentResource):
    """An admission policy that refuses to delete the controller's gate, saying which stack is to go first.

    It binds whoever deletes, with any tool, and needs no process of ours: Kubernetes 1.30 and newer evaluate it
    themselves. With the gate nothing of the controller goes, for all of it comes before the gate.
    """

    def __init__(self, name: str, args: LwsKeeperArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:LwsKeeper", name, None, opts)
        metadata = ObjectMetaArgs(
            name=f"{names.object_name(args.experiment)}-needs-lws", labels=labels.of(args.experiment, "lws-keeper")
        )
        policy = ValidatingAdmissionPolicy(
            f"{name}-policy",
            metadata=metadata,
            spec=ValidatingAdmissionPolicySpecArgs(
                failure_policy="Fail",
                match_constraints=MatchResourcesArgs(
                    namespace_selector=LabelSelectorArgs(match_labels={"kubernetes.io/metadata.name": NAMESPACE}),
                    resource_rules=[
                        NamedRuleWithOperationsArgs(
                            api_groups=[""],
                            api_versions=["v1"],
                            operations=["DELETE"],
                            resources=["configmaps"],
                            resource_names=[GATE],
                        )
                    ],
                ),
                validations=[
                    ValidationArgs(
                        expression="false",
                        message=f"experiment {args.experiment} uses the LeaderWorkerSet controller of "
                        f"{args.installed_by}: destroy {args.experiment} first, then this again",
                    )
                ],
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.binding = ValidatingAdmissionPolicyBinding(
            f"{name}-binding",
            metadata=metadata,
            spec=ValidatingAdmissionPolicyBindingSpecArgs(
                policy_name=policy.metadata.name, validation_actions=["Deny"]
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
