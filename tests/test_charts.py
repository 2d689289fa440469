"""Charts: places, ticks, thinning and what a reader hears, each against its plain definition."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from cascade.reporting.charts import POINTS, Axis, Line, Mark, chart, cumulative, histogram, thinned
from cascade.reporting.text import amount, escaped, number, percent, table


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis("", 0, 1), ["0", "0.25", "0.5", "0.75", "1"]),
        (Axis("", 0, 1, share=True), ["0\xa0%", "25\xa0%", "50\xa0%", "75\xa0%", "100\xa0%"]),
        (Axis("", -50, 40), ["\N{MINUS SIGN}50", "\N{MINUS SIGN}25", "0", "25"]),
        (Axis("", 1, 1024, log=True), ["1", "10", "100", "1,000"]),
        (Axis("", 1e-9, 1, log=True), ["1e-9", "1e-7", "1e-5", "0.001", "0.1"]),
        (Axis("", 1, 9, log=True), ["1", "2", "5"]),  # less than two decades
    ],
)
def test_ticks_are_round(axis, ticks):
    assert [word for _, word in axis.ticks()] == ticks
    places = axis.place([value for value, _ in axis.ticks()])
    assert (np.diff(places) > 0).all()
    assert places.min() >= 0
    assert places.max() <= 1


def test_places_are_shares_of_the_axis():
    np.testing.assert_allclose(Axis("", 2, 4).place([1, 2, 3, 4, 9]), [0, 0, 0.5, 1, 1])
    np.testing.assert_allclose(Axis("", 0.01, 1, log=True).place([0, 0.01, 0.1, 1, 7]), [0, 0, 0.5, 1, 1])


def test_thinning_keeps_ends_and_peaks():
    x = np.linspace(0, 1, 50_000)
    y = np.zeros_like(x)
    y[[17, 31_234]] = 1.0, -1.0
    corners = thinned(x, y)
    assert len(corners) <= 4 * (POINTS + 1)
    assert corners[0] == (0.0, 0.0)
    assert corners[-1] == (1.0, 0.0)
    assert (x[17], 1.0) in corners
    assert (x[31_234], -1.0) in corners
    assert corners == sorted(corners)


def test_a_histogram_holds_every_value():
    values = np.random.default_rng(0).normal(size=1000)
    x, y = histogram(values, -2.0, 2.0, bins=8)  # what lies beyond counts in the outermost bins
    assert sum(y[::2]) == pytest.approx(1.0)
    assert x == sorted(x)
    assert y[0] == pytest.approx((values < -1.5).mean())


def test_cumulative_shares():
    x, y = cumulative([3, 1, 2, 2])
    np.testing.assert_array_equal(x, [1, 2, 2, 3])
    np.testing.assert_array_equal(y, [0.25, 0.5, 0.75, 1.0])


def test_a_chart_is_well_formed_and_says_what_it_shows():
    figure = chart(
        "<A> & B", 'one "curve"', Axis("x < 1", 0, 1), Axis("y", 0, 1),
        [Line("<first>", [0, 1], [0, 1]), Line("second", [0, np.nan, 1], [1, 0.5, 0], "b", filled=True)],
        [Mark(0.9, 0.9, "<here>")], "see & read",
    )  # fmt: skip
    root = ET.fromstring(figure)
    assert root.find("svg").get("aria-label") == 'one "curve"'
    assert root.find("h3").text == "<A> & B"
    assert [key.text for key in root.find("p")] == ["<first>", "second"]
    assert "nan" not in figure
    assert len(root.findall("svg/path[@class='line b']")) == 1
    assert [text.text for text in root.findall("svg/text")][-1] == "<here>"


def test_nothing_to_draw_is_an_empty_chart():
    root = ET.fromstring(chart("t", "a", Axis("", 0, 1), Axis("", 0, 1), [Line("", [], [])]))
    assert not root.findall("svg/path[@class='line a']")


def test_text_is_made_harmless():
    assert escaped("<script>'\"&") == "&lt;script&gt;&#x27;&quot;&amp;"
    assert escaped("a\x00b\x1b[31m\u202ec\udc80") == "a\ufffdb\ufffd[31m\ufffdc\ufffd"
    escaped("\udc80").encode()  # a name of a file that is no text can still be written


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.12345, "0.123"), (12.345, "12.3"), (1234.5, "1,234"), (float("nan"), "\N{EN DASH}")],
)
def test_numbers(value, text):
    assert number(value) == text


def test_words():
    assert percent(0.98765) == "98.8\xa0%"
    assert percent(float("inf")) == "\N{EN DASH}"
    assert amount(1, "box", "boxes") == "1 box"
    assert amount(1200, "box", "boxes") == "1,200 boxes"
    root = ET.fromstring(table(["a", "<b>"], [["1", "<i>"]], "c & d"))
    assert [cell.text for cell in root.iter("td")] == ["<i>"]
    assert next(root.iter("caption")).text == "c & d"
