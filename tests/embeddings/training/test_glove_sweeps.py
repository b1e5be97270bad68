"""AdaGrad of GloVe: gradient by finite differences, objective and steps against plain NumPy, entries in their cells."""

import numpy as np
import pytest

from bayesbias.embeddings.training.corpus import count_cooccurrences
from bayesbias.embeddings.training.glove import BLOCKS, EntriesByCell, sorted_cells, start_numbers
from bayesbias.embeddings.training.glove_sweeps import descend
from tests.embeddings.training.made_glove import ALPHA, DIMENSIONS, SIZE, X_MAX, far_numbers, objective, parts

SETTINGS = (np.float32(np.log(X_MAX)), np.float32(ALPHA))


@pytest.fixture(scope="module")
def counted():
    rng = np.random.default_rng(1)
    return count_cooccurrences(np.minimum(rng.geometric(0.1, size=600) - 1, SIZE - 1).astype(np.int32), SIZE, 4)


@pytest.fixture
def numbers():
    return far_numbers()


def entries_of(counted):
    entries = []
    for part in counted:
        for row in range(len(part.starts) - 1):
            for entry in range(part.starts[row], part.starts[row + 1]):
                i, j, x = part.first + row, int(part.columns[entry]), float(part.values[entry])
                entries += [(i, j, x)] + [(j, i, x)] * (i != j)
    return entries


def run(entries, words, contexts, rate):
    rows, columns, values = (np.array(column) for column in zip(*entries, strict=True))
    logs = np.log(values).astype(np.float32)
    cells = EntriesByCell(np.array([[len(entries)]]), rows.astype(np.int32), columns.astype(np.int32), logs)
    return descend(0, len(entries), cells, words, contexts, np.float32(rate), *SETTINGS)


def test_the_cost_is_the_objective(counted, numbers):
    entries = entries_of(counted)
    assert {x >= X_MAX for _, _, x in entries} == {True, False}
    assert run(entries, *numbers, rate=0) == pytest.approx(objective(*parts(*numbers), entries), rel=1e-5)


@pytest.mark.parametrize("count", [0.3, 40.0])
def test_the_gradient_by_finite_differences(numbers, count):
    """The first step of AdaGrad from sums of 1, of length 1, is the gradient."""
    entry, before = [(3, 7, count)], parts(*numbers)
    run(entry, *numbers, rate=1)
    after, h = parts(*numbers), 1e-6
    for which, (start, end) in enumerate(zip(before, after, strict=True)):
        expected = np.zeros_like(start)
        for place in np.ndindex(start.shape):
            costs = []
            for sign in (1, -1):
                moved = [column.copy() for column in before]
                moved[which][place] += sign * h
                costs.append(objective(*moved, entry))
            expected[place] = (costs[0] - costs[1]) / (2 * h)
        assert np.abs(expected).max() > 0.01
        np.testing.assert_allclose(start - end, expected, atol=2e-6)


def test_steps_against_plain_numpy(counted, numbers):
    """The authors' program: a step is divided by the root of 1 + the sum of squared steps before it."""
    entries, rate = entries_of(counted) * 2, 0.05
    values = [column.copy() for column in parts(*numbers)]
    squares = [np.ones_like(column) for column in values]
    for i, j, x in entries:
        W, b, C, b_ = values
        weight = min(1.0, (x / X_MAX) ** ALPHA)
        slope = rate * weight * (W[i] @ C[j] + b[i] + b_[j] - np.log(x))
        steps = slope * C[j], slope, slope * W[i], slope
        for which, (row, step) in enumerate(zip((i, i, j, j), steps, strict=True)):
            values[which][row] -= step / np.sqrt(squares[which][row])
            squares[which][row] += step**2
    run(entries, *numbers, rate=rate)
    for cell_entries, expected in zip(parts(*numbers), values, strict=True):
        np.testing.assert_allclose(cell_entries, expected, atol=1e-5)
    words, contexts = numbers
    assert (words[:, 0, -1] == 1).all()
    assert (contexts[:, 0, -2] == 1).all()
    assert not words[:, 0, DIMENSIONS:-2].any()
    assert not contexts[:, 0, DIMENSIONS:-2].any()


def test_each_entry_stands_once_in_its_cell(counted):
    cells = sorted_cells(counted, SIZE, np.random.default_rng(3))
    cell_entries = zip(cells.rows.tolist(), cells.columns.tolist(), cells.logs.tolist(), strict=True)
    expected = sorted(entries_of(counted))
    assert [(i, j) for i, j, _ in sorted(cell_entries)] == [(i, j) for i, j, _ in expected]
    by_place = dict(zip(zip(cells.rows.tolist(), cells.columns.tolist(), strict=True), cells.logs, strict=True))
    assert all(by_place[i, j] == pytest.approx(np.log(x), abs=1e-6) for i, j, x in expected)
    block = (np.random.default_rng(3).permutation(SIZE) % BLOCKS).astype(int)
    cell = BLOCKS * block[cells.rows] + block[cells.columns]
    begins = np.concatenate([[0], cells.ends.ravel()[:-1]])
    for place, (begin, end) in enumerate(zip(begins, cells.ends.ravel(), strict=True)):
        assert (cell[begin:end] == place).all()
    other = sorted_cells(counted, SIZE, np.random.default_rng(4))
    assert (other.rows != cells.rows).any()


def test_where_numbers_start():
    words, contexts = start_numbers(2000, 9, np.random.default_rng(1))
    for numbers, bias, one in ((words, -2, -1), (contexts, -1, -2)):
        used = np.concatenate([numbers[:, 0, :9], numbers[:, 0, [bias]]], axis=1)
        assert np.abs(used).max() <= 0.05
        assert np.abs(used).max() > 0.0499
        assert abs(used.mean()) < 4 * 0.1 / np.sqrt(12 * used.size)
        assert (numbers[:, 0, one] == 1).all()
        assert (numbers[:, 1] == 1).all()
