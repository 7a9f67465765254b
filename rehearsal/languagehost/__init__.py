"""Pulumi's Python language host, for machines that lack the official one."""
