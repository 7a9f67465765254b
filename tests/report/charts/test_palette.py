import pytest

from report.charts import palette
from report.charts.palette import SHAPE_CONTRAST, TEXT_CONTRAST, Colour, contrast

SCHEMES = ("light", "dark")
TEXTS = (palette.INK, palette.QUIET, palette.LINK, palette.ALERT, palette.GOOD, palette.BAD, *palette.SERIES)


def ratio(one: Colour, other: Colour, scheme: str) -> float:
    return contrast(getattr(one, scheme), getattr(other, scheme))


def test_the_ratio_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)  # the guideline's own near miss
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")
    assert contrast("#123456", "#123456") == 1


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("paper", [palette.PAPER, palette.CARD], ids=lambda colour: colour.name)
@pytest.mark.parametrize("text", TEXTS, ids=lambda colour: colour.name)
def test_every_text_can_be_read_on_every_paper(text: Colour, paper: Colour, scheme: str) -> None:
    """Topologies' colours too: names of modes are written in them."""
    assert ratio(text, paper, scheme) >= TEXT_CONTRAST


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("line", palette.SERIES, ids=lambda colour: colour.name)
def test_every_line_can_be_seen_on_a_band(line: Colour, scheme: str) -> None:
    assert ratio(line, palette.BAND, scheme) >= SHAPE_CONTRAST
    assert ratio(palette.INK, palette.BAND, scheme) >= TEXT_CONTRAST


def test_no_two_roles_share_a_colour_on_light_paper() -> None:
    """Pictures are drawn in light colours, each of which is then put for the variable that it stands for."""
    assert len({colour.light for colour in palette.ALL}) == len(palette.ALL)
