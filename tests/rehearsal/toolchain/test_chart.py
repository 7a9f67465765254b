from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.toolchain import Toolchain, ToolchainError


@pytest.fixture
def chart(go: Any) -> Path:
    """The chart as the module cache has it: read-only."""
    directory: Path = go.directory / "source" / "charts" / "lws"
    (directory / "templates").mkdir(parents=True)
    (directory / "Chart.yaml").write_text('name: lws\n# a remark\nversion: 0.1.0\nappVersion: "v0.9.0"\n')
    (directory / "templates" / "manager.yaml").write_text("kind: Deployment\n")
    for path in (*directory.rglob("*.yaml"), directory / "templates"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return directory


def test_the_copy_has_the_modules_version(chart: Path, tmp_path: Path, recorder: Any) -> None:
    tools = Toolchain(tmp_path / "home", recorder)
    copy = tools.lws_chart()
    described = yaml.safe_load((copy / "Chart.yaml").read_text())
    assert (described["version"], described["appVersion"]) == ("0.9.0", "v0.9.0")
    assert (copy / "templates" / "manager.yaml").read_text() == "kind: Deployment\n"
    assert (copy / "templates").stat().st_mode & 0o777 == 0o755
    assert tools.lws_chart() == copy
    assert list((tmp_path / "home" / "tools").glob(".*")) == []


def test_a_changed_chart_is_copied_again(chart: Path, tmp_path: Path, recorder: Any) -> None:
    tools = Toolchain(tmp_path / "home", recorder)
    first = tools.lws_chart()
    (chart / "templates" / "manager.yaml").chmod(0o644)
    (chart / "templates" / "manager.yaml").write_text("kind: StatefulSet\n")
    assert tools.lws_chart() != first


@pytest.mark.parametrize(("old", "new"), [("v0.9.0", "v0.8.0"), ("0.1.0", "0.8.0")])
def test_the_chart_of_another_release_is_refused(
    chart: Path, tmp_path: Path, recorder: Any, old: str, new: str
) -> None:
    (chart / "Chart.yaml").chmod(0o644)
    (chart / "Chart.yaml").write_text((chart / "Chart.yaml").read_text().replace(old, new))
    with pytest.raises(ToolchainError, match=r"and 0\.9\.0 is pinned"):
        Toolchain(tmp_path / "home", recorder).lws_chart()
