from typing import Any

import pytest

from rehearsal.images import ImageError
from rehearsal.images.mirror import debian_mirror

SOURCES = """Debian-Security Packages main http://mirror.invalid/security
Debian DEP-11 main http://wrong.invalid/debian
Debian Packages contrib http://wrong.invalid/contrib
Ubuntu Packages main http://wrong.invalid/ubuntu
Debian Packages main file:/cdrom
Debian Packages main https://mirror.invalid/debian
"""


def test_apts_own_mirror_is_used(fakes: Any) -> None:
    fakes.write("apt.txt", SOURCES)
    assert debian_mirror(lambda: pytest.fail("apt had lists already")) == "https://mirror.invalid/debian"


def test_a_mirror_can_be_named(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLITBED_DEBIAN_MIRROR", "http://mine.invalid/debian")
    assert debian_mirror(lambda: None) == "http://mine.invalid/debian"


def test_lists_are_fetched_where_apt_has_none(fakes: Any) -> None:
    fakes.write("apt.txt", "")
    assert debian_mirror(lambda: fakes.write("apt.txt", SOURCES)) == "https://mirror.invalid/debian"


def test_another_distribution_is_told_what_to_do(fakes: Any) -> None:
    fakes.write("apt.txt", "Ubuntu Packages main http://wrong.invalid/ubuntu\n")
    with pytest.raises(ImageError, match="no Debian mirror") as caught:
        debian_mirror(lambda: None)
    assert "SPLITBED_DEBIAN_MIRROR" in caught.value.remedy
