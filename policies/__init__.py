"""The policy pack: what no stack of this project may make, whatever its program says."""
