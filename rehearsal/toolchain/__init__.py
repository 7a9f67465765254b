"""The programs a rehearsal runs: found where they fit, built from pinned Go modules where not.

Toolchain
    finds or builds them.
PROGRAMS, ON_REQUEST
    what each is: its module, version, cost; and which of them a plain rehearsal does without.
ToolchainError
    why one is not to be had.
"""

from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.programs import ON_REQUEST, PROGRAMS, Program
from rehearsal.toolchain.toolchain import Toolchain

__all__ = ["ON_REQUEST", "PROGRAMS", "Program", "Toolchain", "ToolchainError"]
