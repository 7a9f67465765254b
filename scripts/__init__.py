"""The `splitbed` command: one file a verb, thin over the rest."""
