"""Colours of charts and pages, each for light and for dark paper, and whether they can be told from it."""

from dataclasses import dataclass

TEXT_CONTRAST, SHAPE_CONTRAST = 4.5, 3.0
"""The least that WCAG 2.2 asks for (AA): of text, and of lines and marks that carry meaning."""


@dataclass(frozen=True)
class Colour:
    """One role of the page; `name` is that of its CSS variable, without the dashes."""

    name: str
    light: str
    dark: str

    @property
    def css(self) -> str:
        """What a style sheet says: the variable, and the light colour where nobody has set it."""
        return f"var(--{self.name}, {self.light})"


PAPER = Colour("paper", "#fdfcfa", "#14171a")
CARD = Colour("card", "#f4f2ee", "#1d2125")
RULE = Colour("rule", "#d9d5cd", "#383e44")
INK = Colour("ink", "#1c1f22", "#e7e9ea")
QUIET = Colour("quiet", "#5a6067", "#a3abb2")
LINK = Colour("link", "#0b5a8f", "#7cc0ee")
ALERT = Colour("alert", "#8f3d00", "#f2a65e")
GOOD = Colour("good", "#1a6b3c", "#74cf96")
BAD = Colour("bad", "#a3243b", "#f48a9b")
BAND = Colour("band", "#e9e1cf", "#332e22")

SERIES = (
    Colour("first", "#1f5f8b", "#74b9ea"),
    Colour("second", "#b3431e", "#f0946b"),
    Colour("third", "#4c6b12", "#a9cf62"),
    Colour("fourth", "#7a3f98", "#cb9be6"),
    Colour("fifth", "#8a6a00", "#dcb83f"),
    Colour("sixth", "#00736b", "#55cabf"),
)
"""Of topologies, in their order; markers and dashes tell them apart too."""

ALL = (PAPER, CARD, RULE, INK, QUIET, LINK, ALERT, GOOD, BAD, BAND, *SERIES)


def series(number: int) -> Colour:
    """Return the colour of the topology of that number; a seventh has the first's again."""
    return SERIES[number % len(SERIES)]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
