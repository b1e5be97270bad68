"""What GloVe spends its time with: entries sorted into blocks, and AdaGrad over the entries of a block.

Words are put into blocks at random, and with them the rows and columns of the matrix of co-occurrences, which so falls
into blocks x blocks cells. Cells that share neither rows nor columns touch different numbers: they can be gone through
side by side (Gemulla, Nijkamp, Haas and Sismanis 2011), with the same result as one after the other. The vectors of
a cell's words also fit into a processor's cache.

`words` and `contexts` have shape (words, 2, width): a vector, and the sums of its squared steps. Behind the dimensions
stand zeros, then a bias and a 1 (in `contexts` a 1 and a bias), so that one product of two rows holds both biases.
"""

import math

import numpy as np

from bayesbias.base.arrays import compiled


@compiled
def cell_sizes(first, starts, columns, block, sizes):
    """Add to `sizes`, of shape (blocks, blocks), how many entries each cell has of some rows of the lower triangle."""
    for row in range(starts.shape[0] - 1):
        for entry in range(starts[row], starts[row + 1]):
            one, other = first + row, columns[entry]
            sizes[block[one], block[other]] += 1
            if one != other:
                sizes[block[other], block[one]] += 1


@compiled
def fill_cells(first, starts, columns, values, block, free, row_of, column_of, log_of):
    """Put entries, and their mirror images, into their cells, whose next places are `free`."""
    for row in range(starts.shape[0] - 1):
        for entry in range(starts[row], starts[row + 1]):
            one, other, log = first + row, columns[entry], math.log(values[entry])
            for turn in range(1 if one == other else 2):
                if turn == 1:
                    one, other = other, one
                place = free[block[one], block[other]]
                free[block[one], block[other]] += 1
                row_of[place], column_of[place], log_of[place] = one, other, log


@compiled
def shuffle(begin, end, row_of, column_of, log_of, rng):
    """Put the entries of a cell in random order."""
    for place in range(end - 1, begin, -1):
        other = begin + int(rng.random() * (place - begin + 1))
        row_of[place], row_of[other] = row_of[other], row_of[place]
        column_of[place], column_of[other] = column_of[other], column_of[place]
        log_of[place], log_of[other] = log_of[other], log_of[place]


# Sums of products in the order that suits the processor, always the same on one machine; a division by zero, which
# cannot be, is not looked for. Without these the loops over dimensions take one number at a time.
@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def descend(begin, end, row_of, column_of, log_of, words, contexts, learning_rate, log_max, alpha):
    """Go once through entries with AdaGrad; return the sum of their costs, each before its step.

    The cost of an entry is f(X) (w . c + b + b' - log X)^2 / 2, with f(X) = min(1, (X / x_max)^alpha). Numbers are
    float32, those given included.
    """
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
