"""Kinds of resources of the `aws` provider: those that our stacks make, one file a service."""
