"""What `splitbed catalogue refresh` does: facts from AWS, or from packages that carry them, into data files."""
