"""The programs a rehearsal runs: found where they fit, built from pinned Go modules where not.

Toolchain
    finds or builds them.
PROGRAMS
    what each is: its module, version, cost.
ToolchainError
    why one is not to be had.
"""

from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.programs import PROGRAMS, Program
from rehearsal.toolchain.toolchain import Toolchain

__all__ = ["PROGRAMS", "Program", "Toolchain", "ToolchainError"]
