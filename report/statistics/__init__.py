"""Statistics that keep their promise with 3 to 8 runs: pure functions of numbers; the unit is the run."""
