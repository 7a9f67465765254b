"""Pulumi components, one noun a file; with `policies` the only code that knows Pulumi."""
