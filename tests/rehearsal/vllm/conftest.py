"""The stand-in in this process, as its own tests have it."""

from tests.rehearsal.engine.conftest import start

__all__ = ["start"]
