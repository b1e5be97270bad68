"""What the compiled Gibbs sampler of the multivariate model is made of: statistics, densities, linear algebra.

Only arrays in and out, so that each conditional is tested alone. Notation of `multivariate.py`: J protected words,
C connections, n attribute words in lists; `location` is (mu, u_1, ..., u_J), of length C + J C; `t` holds the
logarithms of omega, psi, sigma, the target's weight, and the scale of each kind of list; `inverse` is the inverse of
Sigma. Arrays are float64 and C-contiguous.
"""

import math

import numpy as np

from bayesbias.arrays import compiled
from bayesbias.models.samplers.multivariate import DISTANCE_ERROR

# Families of priors of positive numbers.
EXPONENTIAL, HALF_NORMAL, HALF_STUDENT_T, GAMMA, INVERSE_GAMMA, LOG_NORMAL = range(6)
# Beyond these bounds scales have no probability.
_SMALLEST, _LARGEST = math.log(1e-4), math.log(1e5)


@compiled
def log_prior(family, parameters, x):
    """Return the log density of a positive number, up to a constant."""
    if family == EXPONENTIAL:
        return -parameters[0] * x
    if family == HALF_NORMAL:
        return -0.5 * (x / parameters[0]) ** 2
    if family == HALF_STUDENT_T:
        return -0.5 * (parameters[0] + 1) * math.log1p((x / parameters[1]) ** 2 / parameters[0])
    if family == GAMMA:
        return (parameters[0] - 1) * math.log(x) - parameters[1] * x
    if family == INVERSE_GAMMA:
        return -(parameters[0] + 1) * math.log(x) - parameters[1] / x
    return -0.5 * ((math.log(x) - parameters[0]) / parameters[1]) ** 2 - math.log(x)


@compiled
def forward(lower, right):
    """Solve lower @ x = right in place, for the columns of `right`, shape (size, columns)."""
    for i in range(lower.shape[0]):
        for k in range(i):
            value = lower[i, k]
            for column in range(right.shape[1]):
                right[i, column] -= value * right[k, column]
        value = 1 / lower[i, i]
        for column in range(right.shape[1]):
            right[i, column] *= value
    return right


@compiled
def backward(lower, right):
    """Solve lower.T @ x = right in place, for the columns of `right`, shape (size, columns)."""
    for i in range(lower.shape[0] - 1, -1, -1):
        value = 1 / lower[i, i]
        for column in range(right.shape[1]):
            right[i, column] *= value
        for k in range(i):
            value = lower[i, k]
            for column in range(right.shape[1]):
                right[k, column] -= value * right[i, column]
    return right


@compiled
def inverse_of(matrix):
    """Return the inverse of a positive definite matrix."""
    root = forward(np.linalg.cholesky(matrix), np.eye(matrix.shape[0]))
    return root.T @ root


@compiled
def wishart_precision(scale, freedom, rng):
    """Return the inverse of a draw of InverseWishart(freedom, scale), by Bartlett's decomposition."""
    size = scale.shape[0]
    root = np.zeros((size, size))
    for i in range(size):
        root[i, i] = math.sqrt(2 * rng.standard_gamma((freedom - i) / 2))
        for k in range(i):
            root[i, k] = rng.standard_normal()
    half = backward(np.linalg.cholesky(scale), root)
    return half @ half.T


@compiled
def list_statistics(y, weights, list_of, lists):
    """Return the sum of weights, the weighted mean and the weighted scatter of the attribute words of each list.

    The scatter is that of distances known to within DISTANCE_ERROR.
    """
    n, words = y.shape
    count, mean, scatter = np.zeros(lists), np.zeros((lists, words)), np.zeros((lists, words, words))
    sizes = np.zeros(lists, np.int64)
    for j in range(n):
        at = list_of[j]
        sizes[at] += 1
        count[at] += weights[j]
        for i in range(words):
            mean[at, i] += weights[j] * y[j, i]
    for at in range(lists):
        for i in range(words):
            mean[at, i] /= count[at]
        centred, place = np.empty((sizes[at], words)), 0
        for j in range(n):
            if list_of[j] == at:
                root = math.sqrt(weights[j])
                for i in range(words):
                    centred[place, i] = root * (y[j, i] - mean[at, i])
                place += 1
        product = centred.T @ centred
        for i in range(words):
            for k in range(words):
                scatter[at, i, k] = product[i, k]
            scatter[at, i, i] += count[at] * DISTANCE_ERROR**2
    return count, mean, scatter


@compiled
def residual_squares(location, count, mean, scatter, list_connection, list_kind, basis, kinds):
    """Return the residuals' sums of squares and products by kind of list, shape (kinds, J, J)."""
    lists, words = mean.shape
    expected = list_means(location, list_connection, basis)
    found = np.zeros((kinds, words, words))
    for at in range(lists):
        for i in range(words):
            rest = count[at] * (mean[at, i] - expected[at, i])
            for k in range(words):
                found[list_kind[at], i, k] += scatter[at, i, k] + rest * (mean[at, k] - expected[at, k])
    return found


@compiled
def list_means(location, list_connection, basis):
    """Return the expected distance of each protected word to the words of each list, shape (lists, J)."""
    lists, words = list_connection.shape
    connections = basis.shape[0]
    means = np.empty((lists, words))
    for at in range(lists):
        for i in range(words):
            c = list_connection[at, i]
            value = location[c]
            for b in range(connections):
                value += basis[c, b] * location[connections * (1 + i) + b]
            means[at, i] = value
    return means


@compiled
def profiles_of(list_connection):
    """Return a number for the connections of each protected word to all lists, and a word of each number."""
    words = list_connection.shape[1]
    of, first = np.empty(words, np.int64), np.empty(words, np.int64)
    known = 0
    for i in range(words):
        of[i] = known
        for profile in range(known):
            same = True
            for at in range(len(list_connection)):
                same = same and list_connection[at, i] == list_connection[at, first[profile]]
            if same:
                of[i] = profile
                break
        if of[i] == known:
            first[known] = i
            known += 1
    return of, first[:known]


@compiled
def location_precision(inverse, between, count, mean, scale2, list_connection, list_kind, basis, mean_prior):
    """Return the precision (its lower triangle) and the linear term of the Normal of the location, given all else.

    Words with the same connections to all lists have the same design, so that it is summed over lists once for each two
    such profiles.
    """
    lists, words = list_connection.shape
    size = basis.shape[0]
    precision = np.zeros((size * (1 + words), size * (1 + words)))
    linear = np.zeros((size * (1 + words), 1))
    for c in range(size):
        precision[c, c] = 1 / mean_prior[c, 1] ** 2
        linear[c, 0] = mean_prior[c, 0] / mean_prior[c, 1] ** 2
    for at in range(lists):
        weight = count[at] / scale2[list_kind[at]]
        for i in range(words):
            pull, c = 0.0, list_connection[at, i]
            for k in range(words):
                pull += inverse[i, k] * mean[at, k]
            linear[c, 0] += weight * pull
            for a in range(size):
                linear[size * (1 + i) + a, 0] += weight * pull * basis[c, a]
    of, first = profiles_of(list_connection)
    profiles = len(first)
    both = np.empty((profiles, profiles, size, size))
    one, none = both.copy(), both.copy()
    for p in range(profiles):
        for q in range(profiles):
            for a in range(size):
                for b in range(size):
                    both[p, q, a, b] = one[p, q, a, b] = none[p, q, a, b] = 0.0
            for at in range(lists):
                c, d, weight = list_connection[at, first[p]], list_connection[at, first[q]], count[at]
                weight /= scale2[list_kind[at]]
                none[p, q, c, d] += weight
                for a in range(size):
                    one[p, q, a, d] += basis[c, a] * weight
                    for b in range(size):
                        both[p, q, a, b] += basis[c, a] * weight * basis[d, b]
    sums = np.zeros((words, profiles))
    for i in range(words):
        for k in range(words):
            sums[i, of[k]] += inverse[i, k]
    for i in range(words):
        row = size * (1 + i)
        for q in range(profiles):
            for a in range(size):
                for d in range(size):
                    precision[a, d] += sums[i, q] * none[of[i], q, a, d]
                    precision[row + a, d] += sums[i, q] * one[of[i], q, a, d]
        for k in range(i + 1):
            column, block, value = size * (1 + k), both[of[i], of[k]], inverse[i, k]
            for a in range(size):
                for b in range(size):
                    precision[row + a, column + b] = value * block[a, b]
        for a in range(size):
            for b in range(size):
                precision[row + a, row + b] += between[a, b]
    return precision, linear


@compiled
def target_log_determinant(omega2, psi2, sigma2, sizes):
    """Return log |T| of T = omega^2 11' + psi^2 GG' + sigma^2 I, for groups of these sizes."""
    found, ones = 0.0, 0.0
    for size in sizes:
        inside = sigma2 + psi2 * size
        found += (size - 1) * math.log(sigma2) + math.log(inside)
        ones += size / inside
    return found + math.log1p(omega2 * ones)


@compiled
def scaled_scatter(t, rests, group_of, fixed):
    """Return (nu - J - 1) T + sum over kinds of R_k / s_k^2, the scale of Sigma's conditional."""
    words = len(group_of)
    strength = words * math.exp(t[3])
    omega2, sigma2 = strength * math.exp(2 * t[0]), strength * math.exp(2 * t[2])
    psi2 = 0.0 if fixed[1] else strength * math.exp(2 * t[1])
    total = np.empty((words, words))
    for i in range(words):
        for k in range(i + 1):
            value = omega2
            if group_of[i] == group_of[k]:
                value += psi2
            for kind in range(len(rests)):
                value += math.exp(-2 * t[4 + kind]) * rests[kind, i, k]
            total[i, k] = total[k, i] = value
        total[i, i] += sigma2
    return total


@compiled
def covariance_log_density(t, rests, counts, group_of, sizes, families, parameters, fixed):
    """Return the log density of `t` given the residuals, Sigma integrated out, up to a constant.

    `rests` are the sums of squares and products of residuals by kind of list, shape (kinds, J, J), `counts` the number
    of attribute words of each kind.
    """
    for value in t:
        if value < _SMALLEST or value > _LARGEST:
            return -np.inf
    words, n = len(group_of), counts.sum()
    strength = words * math.exp(t[3])
    nu = words + 1 + strength
    psi2 = 0.0 if fixed[1] else math.exp(2 * t[1])
    target = target_log_determinant(math.exp(2 * t[0]), psi2, math.exp(2 * t[2]), sizes)
    lower = np.linalg.cholesky(scaled_scatter(t, rests, group_of, fixed))
    found = 0.5 * nu * (words * math.log(strength) + target)
    for i in range(words):
        found -= (nu + n) * math.log(lower[i, i])
        found += math.lgamma((nu + n - i) / 2) - math.lgamma((nu - i) / 2)
    for at in range(len(t)):
        if not fixed[at]:
            found += log_prior(families[at], parameters[at], math.exp(t[at])) + t[at]
    for kind in range(len(counts)):
        found -= words * counts[kind] * t[4 + kind]
    return found
