"""How long `up` and `destroy` take, and what they wait for."""
