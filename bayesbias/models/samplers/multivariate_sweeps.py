"""The sweeps of the compiled Gibbs sampler of the multivariate model, and what each of them draws.

Notation as in `multivariate_conditionals.py`.
"""

import math

import numpy as np

from bayesbias.arrays import compiled
from bayesbias.models.samplers.multivariate import DISTANCE_ERROR
from bayesbias.models.samplers.multivariate_conditionals import (
    backward,
    covariance_log_density,
    forward,
    inverse_of,
    list_means,
    list_statistics,
    location_precision,
    log_prior,
    residual_squares,
    scaled_scatter,
    wishart_precision,
)

_STEPS_OUT = 10


@compiled
def slice_along(t, now, direction, width, rng, rests, counts, group_of, sizes, families, parameters, fixed):
    """Move along a direction by slice sampling (Neal 2003: stepping out, shrinkage); return point and log density."""
    level = now - rng.standard_exponential()
    left = -width * rng.random()
    right = left + width
    for _ in range(_STEPS_OUT):
        point = t + left * direction
        if covariance_log_density(point, rests, counts, group_of, sizes, families, parameters, fixed) <= level:
            break
        left -= width
    for _ in range(_STEPS_OUT):
        point = t + right * direction
        if covariance_log_density(point, rests, counts, group_of, sizes, families, parameters, fixed) <= level:
            break
        right += width
    while True:
        step = left + (right - left) * rng.random()
        point = t + step * direction
        then = covariance_log_density(point, rests, counts, group_of, sizes, families, parameters, fixed)
        if then > level:
            return point, then
        if step < 0:
            left = step
        else:
            right = step
        if right - left < 1e-12:
            return t, now


@compiled
def _scale_log_density(x, pull, square, curve, power):
    return pull * math.exp(x) - 0.5 * square * math.exp(2 * x) - power * math.log(curve + math.exp(2 * x)) + x


@compiled
def rescaled_words(location, covariance, half_t, inverse, count, mean, scale2, list_connection, list_kind, basis, rng):
    """Draw the sds of S anew with the standardised effects u / sd and the correlations held; return S.

    The effects in `location` are scaled with their sds. Given the correlations R, the density of the sds under Huang
    and Wand's prior is that of independent half-t's of nu_h + C - 1 degrees of freedom (their property 4).
    """
    lists, words = list_connection.shape
    size = basis.shape[0]
    sds, correlation, standard = np.empty(size), np.empty((size, size)), np.empty((words, size))
    for k in range(size):
        sds[k] = math.sqrt(covariance[k, k])
        for other in range(k + 1):
            correlation[k, other] = correlation[other, k] = covariance[k, other] / (sds[k] * sds[other])
        for i in range(words):
            standard[i, k] = location[size * (1 + i) + k] / sds[k]
    conditional = inverse_of(correlation)
    square, linear = np.zeros((size, size)), np.zeros(size)
    design = np.empty((words, size))
    for at in range(lists):
        weight = count[at] / scale2[list_kind[at]]
        for i in range(words):
            for k in range(size):
                design[i, k] = basis[list_connection[at, i], k] * standard[i, k]
        half = inverse @ design
        for i in range(words):
            rest = mean[at, i] - location[list_connection[at, i]]
            for k in range(size):
                linear[k] += weight * half[i, k] * rest
                for other in range(size):
                    square[k, other] += weight * half[i, k] * design[i, other]
    new = sds.copy()
    freedom, scale = half_t
    for k in range(size):
        pull = linear[k]
        for other in range(size):
            if other != k:
                pull -= square[k, other] * new[other]
        curve = freedom * conditional[k, k] * scale**2
        power = 0.5 * (freedom + size)
        x = math.log(new[k])
        now = _scale_log_density(x, pull, square[k, k], curve, power)
        level = now - rng.standard_exponential()
        left = x - rng.random()
        right = left + 1.0
        for _ in range(_STEPS_OUT):
            if _scale_log_density(left, pull, square[k, k], curve, power) <= level:
                break
            left -= 1.0
        for _ in range(_STEPS_OUT):
            if _scale_log_density(right, pull, square[k, k], curve, power) <= level:
                break
            right += 1.0
        while right - left > 1e-12:
            point = left + (right - left) * rng.random()
            if _scale_log_density(point, pull, square[k, k], curve, power) > level:
                new[k] = math.exp(point)
                break
            if point < x:
                left = point
            else:
                right = point
    for i in range(words):
        for k in range(size):
            location[size * (1 + i) + k] = standard[i, k] * new[k]
    for k in range(size):
        for other in range(size):
            correlation[k, other] *= new[k] * new[other]
    return correlation


@compiled
def draw_normal(precision, linear, spread, rng):
    """Put a draw of Normal(precision^-1 linear, spread^2 precision^-1) into `linear`.

    Only the upper triangle of `precision` is read; it is overwritten by its root. For small matrices, for which LAPACK
    takes longer to be called than to work.
    """
    size = len(linear)
    for i in range(size):
        scale = 1 / math.sqrt(precision[i, i])
        for k in range(i, size):
            precision[i, k] *= scale
        linear[i] /= precision[i, i]
        for k in range(i + 1, size):
            value = precision[i, k]
            linear[k] -= value * linear[i]
            for other in range(k, size):
                precision[k, other] -= value * precision[i, other]
    for i in range(size - 1, -1, -1):
        value = linear[i] + spread * rng.standard_normal()
        for k in range(i + 1, size):
            value -= precision[i, k] * linear[k]
        linear[i] = value / precision[i, i]


@compiled
def residuals(y, means, list_of):
    """Return the distances of attribute words minus the means of their lists."""
    found = np.empty(y.shape)
    for j in range(len(y)):
        for i in range(y.shape[1]):
            found[j, i] = y[j, i] - means[list_of[j], i]
    return found


@compiled
def fill_missing(y, means, inverse, weights, scale2, list_of, list_kind, start, missing, rng):
    """Draw the missing distances of each attribute word, given its others; those of j are missing[start[j]:start[j+1]].

    With Sigma's inverse L, the missing given the observed are Normal with precision L_MM and mean - L_MM^-1 L_MO r_O: a
    pattern of lost pairs costs no more than their number cubed.
    """
    if len(missing) == 0:
        return
    rest = residuals(y, means, list_of)
    for j in range(len(y)):
        for i in missing[start[j] : start[j + 1]]:
            rest[j, i] = 0.0
    pull = rest @ inverse
    for j in range(len(y)):
        gone = missing[start[j] : start[j + 1]]
        if len(gone) == 0:
            continue
        block, right = np.empty((len(gone), len(gone))), np.empty(len(gone))
        for a in range(len(gone)):
            right[a] = -pull[j, gone[a]]
            for b in range(a, len(gone)):
                block[a, b] = inverse[gone[a], gone[b]]
        draw_normal(block, right, math.sqrt(scale2[list_kind[list_of[j]]] / weights[j]), rng)
        for a in range(len(gone)):
            y[j, gone[a]] = means[list_of[j], gone[a]] + right[a]


@compiled
def tail_weights(y, means, inverse, scale2, list_of, list_kind, freedom, weights, rng):
    """Draw the precision weight of each attribute word, of a Student t with `freedom` degrees of freedom."""
    rest = residuals(y, means, list_of)
    pull = rest @ inverse
    for j in range(len(y)):
        square = 0.0
        for i in range(y.shape[1]):
            square += rest[j, i] * pull[j, i] + DISTANCE_ERROR**2 * inverse[i, i]
        rate = (freedom + square / scale2[list_kind[list_of[j]]]) / 2
        weights[j] = rng.standard_gamma((freedom + y.shape[1]) / 2) / rate


@compiled
def freedom_log_density(x, weights, family, parameters):
    """Return the log density of log(freedom) given the weights, up to a constant."""
    half, total = math.exp(x) / 2, 0.0
    for weight in weights:
        total += math.log(weight) - weight
    constant = half * math.log(half) - math.lgamma(half)
    return len(weights) * constant + half * total + log_prior(family, parameters, 2 * half) + x


@compiled
def tail_freedom(freedom, weights, family, parameters, rng):
    """Draw the degrees of freedom given the weights, by one slice."""
    x = math.log(freedom)
    level = freedom_log_density(x, weights, family, parameters) - rng.standard_exponential()
    left = x - rng.random()
    right = left + 1.0
    for _ in range(_STEPS_OUT):
        if freedom_log_density(left, weights, family, parameters) <= level:
            break
        left -= 1.0
    for _ in range(_STEPS_OUT):
        if freedom_log_density(right, weights, family, parameters) <= level:
            break
        right += 1.0
    while right - left > 1e-12:
        point = left + (right - left) * rng.random()
        if freedom_log_density(point, weights, family, parameters) > level:
            return math.exp(point)
        if point < x:
            left = point
        else:
            right = point
    return freedom


@compiled
def sweep_chain(
    y, weights, location, t, freedom, auxiliary, inverse, start, missing, list_of, list_connection, list_kind,
    group_of, group_sizes, basis, mean_prior, half_t, families, parameters, fixed, tail, tail_family, tail_parameters,
    directions, widths, slices, turn, forms, thin, draws, rng,
):  # fmt: skip
    """Sweep `thin * draws` times from the state in the arguments, which is changed in place; return what is kept.

    Each sweep has `slices` slices, along the columns of `directions` in turn, from the one numbered `turn` on. Kept are
    location, t, S, Sigma, freedom and weights at every `thin`-th sweep, and mean and sd of each linear form of the
    location (a row of `forms`) given all else.
    """
    n, words = y.shape
    size, lists, kinds = basis.shape[0], len(list_kind), len(t) - 4
    counts, whole = np.zeros(kinds), len(missing) == 0 and not tail
    for j in range(n):
        counts[list_kind[list_of[j]]] += 1
    kept_location, kept_t = np.empty((draws, len(location))), np.empty((draws, len(t)))
    kept_between, kept_sigma = np.empty((draws, size, size)), np.empty((draws, words, words))
    kept_freedom, kept_weights = np.empty(draws), np.empty((draws, n))
    form_mean, form_sd = np.empty((draws, len(forms))), np.empty((draws, len(forms)))
    scale2 = np.exp(2 * t[4:])
    count, mean, scatter = list_statistics(y, weights, list_of, lists)
    for sweep in range(thin * draws):
        means = list_means(location, list_connection, basis)
        fill_missing(y, means, inverse, weights, scale2, list_of, list_kind, start, missing, rng)
        if not whole:
            count, mean, scatter = list_statistics(y, weights, list_of, lists)
        rests = residual_squares(location, count, mean, scatter, list_connection, list_kind, basis, kinds)
        now = covariance_log_density(t, rests, counts, group_of, group_sizes, families, parameters, fixed)
        for _ in range(slices):
            t, now = slice_along(
                t, now, directions[:, turn].copy(), widths[turn], rng, rests, counts, group_of, group_sizes, families,
                parameters, fixed,
            )  # fmt: skip
            turn = (turn + 1) % len(widths)
        scale2 = np.exp(2 * t[4:])
        scale = scaled_scatter(t, rests, group_of, fixed)
        inverse[:] = wishart_precision(scale, words + 1 + words * math.exp(t[3]) + n, rng)
        if tail:
            tail_weights(y, means, inverse, scale2, list_of, list_kind, freedom, weights, rng)
            freedom = tail_freedom(freedom, weights, tail_family, tail_parameters, rng)
            count, mean, scatter = list_statistics(y, weights, list_of, lists)
        effects = location[size:].copy().reshape(words, size)
        spread = effects.T @ effects
        for k in range(size):
            spread[k, k] += 2 * half_t[0] / auxiliary[k]
        between = wishart_precision(spread, half_t[0] + size - 1 + words, rng)
        covariance = rescaled_words(
            location, inverse_of(between), half_t, inverse, count, mean, scale2, list_connection, list_kind, basis, rng
        )
        between = inverse_of(covariance)
        for k in range(size):
            rate = 1 / half_t[1] ** 2 + half_t[0] * between[k, k]
            auxiliary[k] = rate / rng.standard_gamma((half_t[0] + size) / 2)
        precision, linear = location_precision(
            inverse, between, count, mean, scale2, list_connection, list_kind, basis, mean_prior
        )
        lower = np.linalg.cholesky(precision)
        middle = forward(lower, linear)
        noise = np.empty((len(location), 1))
        for at in range(len(location)):
            noise[at, 0] = middle[at, 0] + rng.standard_normal()
        location = backward(lower, noise)[:, 0].copy()
        if (sweep + 1) % thin == 0:
            place = sweep // thin
            through = forward(lower, forms.T.copy())
            for at in range(len(forms)):
                value, square = 0.0, 0.0
                for i in range(len(location)):
                    value += through[i, at] * middle[i, 0]
                    square += through[i, at] ** 2
                form_mean[place, at], form_sd[place, at] = value, math.sqrt(square)
            kept_location[place], kept_t[place], kept_between[place] = location, t, covariance
            kept_sigma[place] = inverse_of(inverse)
            kept_freedom[place] = freedom
            kept_weights[place] = weights
    state = (location, t, freedom, turn)
    return state, kept_location, kept_t, kept_between, kept_sigma, kept_freedom, kept_weights, form_mean, form_sd
