"""Serve the policy pack to Pulumi's engine, which starts this directory: `pulumi preview --policy-pack policies`."""

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.pack import NAME, policies

if __name__ == "__main__":
    PolicyPack(NAME, policies(), enforcement_level=EnforcementLevel.MANDATORY)
