"""Compiled loops of GloVe and GN-GloVe: entries sorted into cells, and AdaGrad over the entries of a cell.

Words are assigned to blocks at random, which divides the matrix of co-occurrences into blocks x blocks cells. Cells
without common rows or columns change different numbers, so they can be processed in parallel (Gemulla, Nijkamp, Haas
and Sismanis 2011) with the same result as one after the other. The vectors of a cell's words also fit into a
processor's cache.

`words` and `contexts` have shape (words, 2, width): a vector, and the sums of its squared steps. After the dimensions
follow zeros, then a bias and a 1 (in `contexts` a 1 and a bias), so that the product of two rows includes both biases.
"""

import math

import numpy as np

from bayesbias.base.arrays import compiled


@compiled
def cell_sizes(first, starts, columns, block, sizes):
    """Add the numbers of entries of some rows of the lower triangle to the cells' `sizes`, shape (blocks, blocks)."""
    for row in range(starts.shape[0] - 1):
        for entry in range(starts[row], starts[row + 1]):
            row_word, column_word = first + row, columns[entry]
            sizes[block[row_word], block[column_word]] += 1
            if row_word != column_word:
                sizes[block[column_word], block[row_word]] += 1


@compiled
def fill_cells(first, starts, columns, values, block, free, cells):
    """Put entries and their mirror images into their cells, whose next free places are `free`."""
    row_of, column_of, log_of = cells.rows, cells.columns, cells.logs
    for row in range(starts.shape[0] - 1):
        for entry in range(starts[row], starts[row + 1]):
            row_word, column_word, log = first + row, columns[entry], math.log(values[entry])
            for turn in range(1 if row_word == column_word else 2):
                if turn == 1:
                    row_word, column_word = column_word, row_word
                place = free[block[row_word], block[column_word]]
                free[block[row_word], block[column_word]] += 1
                row_of[place], column_of[place], log_of[place] = row_word, column_word, log


@compiled
def shuffle(begin, end, cells, rng):
    """Put the entries of a cell in random order."""
    row_of, column_of, log_of = cells.rows, cells.columns, cells.logs
    for place in range(end - 1, begin, -1):
        other = begin + int(rng.random() * (place - begin + 1))
        row_of[place], row_of[other] = row_of[other], row_of[place]
        column_of[place], column_of[other] = column_of[other], column_of[place]
        log_of[place], log_of[other] = log_of[other], log_of[place]


# These options vectorise the loops over dimensions: sums of products in any order (always the same on one machine), and
# no checks for division by zero, which is impossible here.
@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def descend(begin, end, cells, words, contexts, learning_rate, log_max, alpha):
    """Update words and contexts with each entry by AdaGrad; return the sum of the costs before each step.

    The cost of an entry is f(X) (w . c + b + b' - log X)^2 / 2, with f(X) = min(1, (X / x_max)^alpha). All numbers are
    float32, including the arguments.
    """
    row_of, column_of, log_of = cells.rows, cells.columns, cells.logs
    width = words.shape[2]
    cost = 0.0
    for place in range(begin, end):
        word, context, log = words[row_of[place]], contexts[column_of[place]], log_of[place]
        vector, squares, other, other_squares = word[0], word[1], context[0], context[1]
        difference = -log
        for k in range(width):
            difference += vector[k] * other[k]
        slope = np.float32(math.exp(min(np.float32(0), alpha * (log - log_max)))) * difference
        cost += 0.5 * slope * difference
        slope *= learning_rate
        for k in range(width):
            step, other_step = slope * other[k], slope * vector[k]
            vector[k] -= step / math.sqrt(squares[k])
            other[k] -= other_step / math.sqrt(other_squares[k])
            squares[k] += step * step
            other_squares[k] += other_step * other_step
        vector[width - 1] = other[width - 2] = 1
    return cost


@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def descend_apart(begin, end, cells, words, contexts, step_numbers, penalties):
    """Update words and contexts with each entry by AdaGrad; return the sum of the costs before each step.

    The cost of an entry is GloVe's, and for each of its two words one of two penalties: of a word of one side, weight
    times the square of its last component minus the side (1 or -1); of a neutral word (side 0), weight times the square
    of its product with the direction. All numbers are float32, except the sides (int8).
    """
    row_of, column_of, log_of = cells.rows, cells.columns, cells.logs
    learning_rate, log_max, alpha = step_numbers
    sides, direction, last = penalties.sides, penalties.direction, penalties.last
    apart_weight, neutral_weight = penalties.apart_weight, penalties.neutral_weight
    width = words.shape[2]
    cost = 0.0
    for place in range(begin, end):
        word, context, log = words[row_of[place]], contexts[column_of[place]], log_of[place]
        vector, squares, other, other_squares = word[0], word[1], context[0], context[1]
        side, other_side = np.float32(sides[row_of[place]]), np.float32(sides[column_of[place]])
        difference = -log
        lean, other_lean = np.float32(0), np.float32(0)
        component, other_component = np.float32(0), np.float32(0)
        for k in range(width):
            difference += vector[k] * other[k]
            lean += vector[k] * direction[k]
            other_lean += other[k] * direction[k]
            component += vector[k] * last[k]
            other_component += other[k] * last[k]
        neutral = neutral_weight * lean if side == 0 else np.float32(0)
        other_neutral = neutral_weight * other_lean if other_side == 0 else np.float32(0)
        apart = apart_weight * (component - side) if side != 0 else np.float32(0)
        other_apart = apart_weight * (other_component - other_side) if other_side != 0 else np.float32(0)
        slope = np.float32(math.exp(min(np.float32(0), alpha * (log - log_max)))) * difference
        cost += 0.5 * slope * difference + neutral * lean + other_neutral * other_lean
        cost += apart * (component - side) + other_apart * (other_component - other_side)
        slope *= learning_rate
        neutral, other_neutral = 2 * learning_rate * neutral, 2 * learning_rate * other_neutral
        apart, other_apart = 2 * learning_rate * apart, 2 * learning_rate * other_apart
        for k in range(width):
            step = slope * other[k] + neutral * direction[k] + apart * last[k]
            other_step = slope * vector[k] + other_neutral * direction[k] + other_apart * last[k]
            vector[k] -= step / math.sqrt(squares[k])
            other[k] -= other_step / math.sqrt(other_squares[k])
            squares[k] += step * step
            other_squares[k] += other_step * other_step
        vector[width - 1] = other[width - 2] = 1
    return cost
