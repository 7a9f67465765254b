"""The benchmark client, as run by the Job in the engine's image."""
