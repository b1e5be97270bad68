"""Texts that a figure cuts off."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def cut_texts(figure: "Figure") -> list[str]:
    """Return the visible texts that extend beyond a figure."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    box = figure.bbox
    # Matplotlib makes labels of ticks beyond the ends of an axis, and does not draw them.
    ticks = {label for axes in figure.axes for label in axes.get_xticklabels()}
    cut = []
    for text in set(figure.findobj(Text)) - ticks:
        if text.get_text().strip() and text.get_visible() and (text.axes is None or text.axes.get_visible()):
            extent = text.get_window_extent()
            if extent.x0 < -0.5 or extent.y0 < -0.5 or extent.x1 > box.x1 + 0.5 or extent.y1 > box.y1 + 0.5:
                cut.append(text.get_text())
    return cut
