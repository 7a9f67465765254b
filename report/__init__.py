"""From records of a benchmark to figures and words."""
