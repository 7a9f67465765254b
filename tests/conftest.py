"""Options of the whole test run."""

import gc

import pytest
from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("splitbed", deadline=None)
settings.load_profile("splitbed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-golden",
        action="store_true",
        help="write tests/data/golden anew from what the program makes now; read the diff before committing it",
    )
    parser.addoption("--records", help="keep what `make test-vllm` measures there; what is there is not repeated")
    parser.addoption("--chaos-seeds", default="0:6", help="FIRST:END, of the rehearsals that are disturbed")


def pytest_collection_finish() -> None:
    """Spare every collection of garbage the 600,000 objects that stay: a fifth of the unit tests' time went there."""
    gc.collect()
    gc.freeze()
