"""Blocked Gibbs sampling of the multivariate model, in which attribute words are the sample.

For attribute word j of list L, of kind k (stereotype, human, neutral), its distances to the J protected words are a
vector,

    y_j ~ Normal(m_L, s_k^2 Sigma)                     or a Student t, y_j ~ Normal(m_L, s_k^2 Sigma / w_j)
    m_L[i] = mu[c(i, L)] + u_i[c(i, L)],      u_i = B (level, gap, human, neutral)_i ~ Normal(0, S)
    Sigma ~ InverseWishart(nu, (nu - J - 1) T),        T = omega^2 11' + psi^2 GG' + sigma^2 I

Why: a cosine distance is y_ij = 1 - p_i . a_j for unit vectors p (protected) and a (attribute), so that y_j is a linear
image of a_j, and over attribute words its covariance is P Cov(a) P'. Symbols, and their names in a posterior:

    mu      connection_mean, cosine distance: mean of all protected words like these, for each connection
    u_i, S  word_mean = mu + u_i; word_covariance, cosine distance squared; effect_sd, the root of S's diagonal
    B       a word's level (mean of associated and different), gap (associated - different), human and neutral effect
    Sigma   residual_covariance, cosine distance squared: that of attribute words of the last kind of list, J by J
    s_k     list_scale, no unit: of the other kinds of lists, relative to the last kind, whose s is 1
    omega   attribute_sd, cosine distance: attribute words that are near to every protected word
    psi     group_attribute_sd, cosine distance: attribute words that lean to a protected group (G, the membership)
    sigma   sigma, cosine distance: what is left
    nu      (nu - J - 1) / J is target_weight, no unit: large, and Sigma is T, a crossed model with random slopes;
            small, and Sigma is free
    w_j     attribute_weight, no unit, with nu of the Student t: small for outlying attribute words

Distances are not taken as known better than 0.001 (DISTANCE_ERROR): the log likelihood is averaged over independent
errors of that sd, E log p(y_j + e) = log p(y_j) - 0.001^2 tr(Sigma^-1) / (2 s_k^2). It changes nothing where residuals
have sds of 0.02 and more, as in published tables, and is needed where Sigma is singular: words with the same vector,
more protected words than dimensions, a direction that debiasing took out. There the density would have no bound.
It depends on parameters alone, so that in effect it is a factor of the prior of Sigma and s, of at most 1.

Blocks: the location (mu, u) given all else, jointly Normal; S by Huang and Wand's (2013) auxiliary scales, its sds
once more with the standardised effects held (Yu and Meng 2011: interweaving); omega, psi, sigma, nu and s
together with Sigma integrated out, by slices along the principal directions of the warm-up; Sigma given all else,
inverse-Wishart; lost pairs given the others of their attribute word. Adaptation ends with the warm-up.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

import numpy as np

from bayesbias.cores import available_cores
from bayesbias.errors import FitError
from bayesbias.models.data import ModelData, attribute_lists, list_names
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ModelSpec
from bayesbias.models.word_effects import effects_basis

# Sd of the error to within which distances are known.
DISTANCE_ERROR = 1e-3
# Names of (omega, psi, sigma, weight of the target) in a posterior; `list_scale` follows.
SCALES = ("attribute_sd", "group_attribute_sd", "sigma", "target_weight")
_FAMILIES = ("Exponential", "HalfNormal", "HalfStudentT", "Gamma", "InverseGamma", "LogNormal")
# Slices cost J^3 each, and the scales mix fast where words are many: the directions take turns.
_FEWEST_SLICES, _MOST_SLICES, _SLICES_TIMES_WORDS = 2, 6, 100
_BLOCKS = 20
_LEAST_TO_ADAPT = 40
_LEAST_VARIANCE = 1e-6
_MOST_SWEEPS, _SWEEPS_TIMES_ROOT = 4, 10


@dataclass(frozen=True, eq=False)
class AttributeSample:
    """A distance table as a sample of attribute words.

    `distances` has shape (attribute words, protected words), NaN where a pair is lost. `list_of` is the list of each
    attribute word, `list_connection` (lists, protected words) and `list_kind` (lists,) what a list is, `kinds` the
    names of the kinds. `group_of` is the group of each protected word.
    """

    distances: np.ndarray
    list_of: np.ndarray
    list_connection: np.ndarray
    list_kind: np.ndarray
    kinds: tuple[str, ...]
    group_of: np.ndarray
    connections: tuple[str, ...]

    @property
    def has_groups(self) -> bool:
        """Whether attribute words can lean to a protected group: there are several, and some have several words."""
        return bool(1 < self.group_of.max() + 1 < len(self.group_of))


def attribute_sample(data: ModelData) -> AttributeSample:
    """Return the rows of a table as vectors of attribute words.

    A lost pair is given the connection that its attribute word has to other words of the group, or else that of a list
    which agrees with what is left of the attribute word's, or else any: no posterior depends on it, but the fewer lists
    there are, the faster is a sweep.

    Raises
    ------
    FitError
        If an attribute word is in lists of two kinds, or a pair is repeated.
    """
    kind_of = attribute_lists(data)
    shape = len(data.attribute_words), len(data.protected_words)
    distances, connection = np.full(shape, np.nan), np.full(shape, -1)
    if len(np.unique(data.attribute.astype(np.int64) * shape[1] + data.protected)) < len(data.distance):
        raise FitError(
            "Rows repeat a pair, and the multivariate model takes each attribute word as one vector of distances. Drop "
            "the repetitions, or use the model 'crossed'."
        )
    distances[data.attribute, data.protected] = data.distance
    connection[data.attribute, data.protected] = data.connection
    groups, group_of = np.unique(data.protected_groups, return_inverse=True)
    for row in connection:
        for group in range(len(groups)):
            members = group_of == group
            known = row[members & (row >= 0)]
            if len(known):
                row[members & (row < 0)] = known[0]
    lists, list_of = np.unique(np.column_stack([kind_of, _completed(connection, kind_of)]), axis=0, return_inverse=True)
    return AttributeSample(
        distances=distances,
        list_of=list_of.reshape(-1),
        list_connection=np.ascontiguousarray(lists[:, 1:]),
        list_kind=lists[:, 0].copy(),
        kinds=list_names(data),
        group_of=group_of,
        connections=data.connections,
    )


def _completed(connection: np.ndarray, kind_of: np.ndarray) -> np.ndarray:
    """Return the connections of attribute words (rows), those that are not known (-1) as in rows that do not differ."""
    patterns: list[tuple[int, np.ndarray]] = []
    pattern_of = np.empty(len(connection), dtype=np.int64)
    # The rows that say most first, so that the others find what they can agree with.
    for j in np.argsort((connection < 0).sum(axis=1), kind="stable"):
        row = connection[j]
        for at, (kind, known) in enumerate(patterns):
            if kind == kind_of[j] and ((known == row) | (known < 0) | (row < 0)).all():
                known[known < 0] = row[known < 0]
                pattern_of[j] = at
                break
        else:
            pattern_of[j] = len(patterns)
            patterns.append((int(kind_of[j]), row.copy()))
    for _, known in patterns:
        known[known < 0] = known[known >= 0][-1]
    return np.stack([patterns[at][1] for at in pattern_of])


def why_not_gibbs(spec: ModelSpec) -> str | None:
    """Return which term of a model the Gibbs sampler does not fit, or None."""
    return None if spec.multivariate else "its attribute words are no sample of vectors"


def sweeps_a_draw(words: int) -> int:
    """Return the sweeps for each kept draw of a fit: with few protected words they are cheap, and chains mix slowly."""
    return int(np.clip(np.ceil(_SWEEPS_TIMES_ROOT / np.sqrt(words)), 1, _MOST_SWEEPS))


def sample_multivariate(
    sample: AttributeSample,
    spec: ModelSpec,
    *,
    draws: int,
    tune: int,
    chains: int,
    seed: int,
    forms: np.ndarray | None = None,
    thin: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> dict[str, np.ndarray]:
    """Return draws of the posterior, each of shape (chains, draws, ...), by name.

    Parameters
    ----------
    sample
        The table.
    spec
        A model with `attribute_effects` ``"covariance"``.
    draws, tune, chains
        Kept draws a chain, sweeps of warm-up a chain, and chains, which start apart from each other.
    seed
        Each chain draws from a generator of its own, so that the draws do not depend on how chains share the cores.
    forms
        Linear forms of the location, shape (forms, size of the location); `conditional_mean` and `conditional_sd` of
        the result are their moments given all else at each kept draw.
    thin
        Sweeps for each kept draw, such as `sweeps_a_draw`.
    advance
        Called whenever a twentieth of a chain's sweeps is done.
    """
    # What is limited to one thread must be loaded: numba calls the linear algebra that comes with SciPy.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    stop = Event()
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(min(chains, 2, available_cores())) as pool:
        jobs = [
            pool.submit(
                _chain, sample, spec, draws, tune, forms, thin, np.random.default_rng([seed, chain]), stop, advance
            )
            for chain in range(chains)
        ]
        try:
            found = [job.result() for job in jobs]
        finally:
            stop.set()
    return {name: np.stack([each[name] for each in found]) for name in found[0]}


def _prior_code(prior: Prior) -> tuple[int, np.ndarray]:
    values = [*prior.parameters.values(), 0.0][:2]
    return _FAMILIES.index(prior.distribution), np.array(values)


def _first_effects(
    y: np.ndarray, connection: np.ndarray, gone: np.ndarray, mu: np.ndarray, basis: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return where the word effects of a chain start, shape (words, effects): at 0.5 to 1.5 times those of cell means.

    From effects near 0 a chain can stay where the residual covariance stands for what protected words differ by: a
    point that is far less likely, and that sweeps do not leave.
    """
    size = len(mu)
    cells = [(connection == c) & ~gone for c in range(size)]
    counts = np.stack([cell.sum(axis=0) for cell in cells], axis=1)
    sums = np.stack([np.where(cell, y - mu[c], 0.0).sum(axis=0) for c, cell in enumerate(cells)], axis=1)
    level = sums.sum(axis=1, keepdims=True) / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    deviation = np.where(counts > 0, sums / np.maximum(counts, 1), level)
    effects = deviation @ np.linalg.inv(basis).T
    return np.asarray(rng.uniform(0.5, 1.5) * effects + 0.02 * rng.standard_normal(effects.shape))


def _chain(
    sample: AttributeSample,
    spec: ModelSpec,
    draws: int,
    tune: int,
    forms: np.ndarray | None,
    thin: int,
    rng: np.random.Generator,
    stop: Event,
    advance: Callable[[], None],
) -> dict[str, np.ndarray]:
    """Return the draws of one chain."""
    from bayesbias.models.samplers.multivariate_conditionals import inverse_of
    from bayesbias.models.samplers.multivariate_sweeps import sweep_chain

    n, words = sample.distances.shape
    size, kinds, basis = len(sample.connections), len(sample.kinds), effects_basis(sample.connections)
    tail = spec.switches["likelihood"] == "student_t"
    names = [*SCALES, *["list_scale"] * kinds]
    codes = [_prior_code(spec.priors[name]) for name in names]
    fixed = np.array([False, not sample.has_groups, False, False, *[False] * (kinds - 1), True])
    gone = np.isnan(sample.distances)
    y = np.where(gone, 0.0, sample.distances)
    start = np.concatenate([[0], np.cumsum(gone.sum(axis=1))])
    # Contiguous, as where nothing is lost: else all is compiled a second time.
    missing = np.ascontiguousarray(np.nonzero(gone)[1])
    prior = spec.priors["connection_mean"].parameters
    connection = sample.list_connection[sample.list_of]
    mu = np.array([y[(connection == c) & ~gone].mean() for c in range(size)])
    y[gone] = mu[connection[gone]]
    t = np.concatenate([np.log([0.05, 0.02, 0.05, 1.0]), np.zeros(kinds)]) + 0.5 * rng.standard_normal(4 + kinds)
    t[fixed] = 0.0
    omega, psi, sigma = np.exp(t[:3])
    same = sample.group_of[:, None] == sample.group_of
    target = omega**2 + psi**2 * (same & sample.has_groups) + sigma**2 * np.eye(words)
    location = np.concatenate([mu, _first_effects(y, connection, gone, mu, basis, rng).ravel()])
    freedom = float(spec.priors["nu"].draw(1, rng)[0]) + 2.0 if tail else 1.0
    tail_family, tail_parameters = _prior_code(spec.priors["nu"]) if tail else (0, np.ones(2))
    half_t = np.array(list(spec.priors["effect_sd"].parameters.values()))
    weights, auxiliary, inverse = np.ones(n), np.full(size, half_t[1] ** 2), inverse_of(target)
    used = np.zeros((0, len(location))) if forms is None else np.ascontiguousarray(forms)
    slices = int(np.clip(_SLICES_TIMES_WORDS / words, _FEWEST_SLICES, _MOST_SLICES))
    directions, widths, turn = np.eye(len(t))[:, ~fixed].copy(), np.ones((~fixed).sum()), 0

    def sweep(count: int, every: int, forms: np.ndarray) -> list[np.ndarray]:
        nonlocal location, t, freedom, turn
        if stop.is_set():
            raise KeyboardInterrupt
        (location, t, freedom, turn), *kept = sweep_chain(
            y, weights, location, t, freedom, auxiliary, inverse, start, missing, sample.list_of,
            sample.list_connection, sample.list_kind, sample.group_of, np.bincount(sample.group_of), basis,
            np.tile([prior["mu"], prior["sigma"]], (size, 1)), half_t, np.array([code for code, _ in codes]),
            np.stack([values for _, values in codes]), fixed, tail, tail_family, tail_parameters, directions, widths,
            slices, turn, forms, every, count, rng,
        )  # fmt: skip
        return list(kept)

    nothing, quarter = used[:0], max(tune // 4, 1)
    sweep(1, quarter, nothing)
    tuned = sweep(quarter, 1, nothing)[1]
    if quarter >= _LEAST_TO_ADAPT:
        variances, principal = np.linalg.eigh(np.cov(tuned[:, ~fixed].T))
        directions, widths = directions @ principal, 3 * np.sqrt(np.maximum(variances, _LEAST_VARIANCE))
    if tune > 2 * quarter:
        sweep(1, tune - 2 * quarter, nothing)
    parts = []
    for part in np.array_split(np.arange(draws), min(_BLOCKS, draws)):
        parts.append(sweep(len(part), thin, used))
        advance()
    kept = [np.concatenate(each) for each in zip(*parts, strict=True)]
    locations, logs, between, covariance, freedoms, word_weights, form_mean, form_sd = kept
    effects = locations[:, size:].reshape(draws, words, size)
    word_covariance = basis @ between @ basis.T
    found = {
        "connection_mean": locations[:, :size],
        "word_mean": locations[:, None, :size] + effects @ basis.T,
        "effect_sd": np.sqrt(np.diagonal(between, axis1=1, axis2=2)),
        "word_covariance": word_covariance,
        "word_sd": np.sqrt(np.diagonal(word_covariance, axis1=1, axis2=2)),
        **{name: np.exp(logs[:, at]) for at, name in enumerate(SCALES) if not fixed[at]},
        "list_scale": np.exp(logs[:, 4:-1]),
        "residual_covariance": covariance,
    }
    if forms is not None:
        found |= {"conditional_mean": form_mean, "conditional_sd": form_sd}
    if kinds == 1:
        del found["list_scale"]
    return found | ({"nu": freedoms, "attribute_weight": word_weights} if tail else {})
