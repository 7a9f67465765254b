"""What a change does to stacks: which it touches, what the engine would do, and the comment that says so."""
