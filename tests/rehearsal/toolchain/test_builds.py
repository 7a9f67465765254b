from pathlib import Path

from rehearsal.toolchain import PROGRAMS
from rehearsal.toolchain.builds import stated_version


def test_a_program_that_prints_no_text_has_no_version(tmp_path: Path) -> None:
    fake = tmp_path / "pulumi"
    fake.write_text("#!/bin/sh\nprintf '\\377\\376'\n")
    fake.chmod(0o755)

    assert stated_version(PROGRAMS["pulumi"], fake) is None
