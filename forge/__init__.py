"""Speaking with the forge that hosts the repository: one comment, one issue, kept up to date."""
