"""Results in the forms of other tools: llm-d's benchmark report, and flat tables."""
