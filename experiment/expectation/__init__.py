"""What to expect of speed, to first order, beside what the posts measured."""
