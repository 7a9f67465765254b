"""Stack files as Pulumi reads them: found, varied, checked, and written elsewhere."""
