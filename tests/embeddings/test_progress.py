"""The bar of long training says words per second and the time left; in a pipe it says nothing."""

import io
import re
import time

import pytest
from rich.console import Console

from bayesbias.embeddings.progress import words_bar


def test_words_per_second_and_the_time_left():
    text = io.StringIO()
    with words_bar(4000, progress=True, console=Console(file=text, force_terminal=True, width=100)) as (
        describe,
        advance,
    ):
        describe("glove, seed 1 (1 of 2)")
        for _ in range(4):
            advance(500)
            time.sleep(0.15)
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text.getvalue())
    assert "glove, seed 1 (1 of 2)" in shown
    speeds = [int(each.replace(",", "")) for each in re.findall(r"([\d,]+) words/s", shown)]
    assert speeds
    assert all(100 < speed < 10_000 for speed in speeds)
    assert re.search(r"0:00:0\d left", shown)


def test_nothing_is_said_in_a_pipe(capsys: pytest.CaptureFixture[str]):
    with words_bar(10, progress=True) as (describe, advance):
        describe("skipgram")
        advance(10)
    assert capsys.readouterr() == ("", "")
