"""What ends the fetching of weights."""


class RefusedError(Exception):
    """One sentence for a person: what cannot be had, why, and what to do. It never holds a secret."""
