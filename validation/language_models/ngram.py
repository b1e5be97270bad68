"""A trigram model of sentences with planted associations, whose probabilities are exact."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import log_softmax

# Standard deviations in nats: of attribute words; of what words, pairs, templates and their products add to a contrast.
FREQUENCY, WORD, ATTRIBUTE, PAIR, TEMPLATE, TEMPLATE_WORD, RESIDUAL = 1.5, 0.5, 0.4, 0.5, 0.3, 0.3, 0.4
OTHERS = 20  # words of the vocabulary beside the attribute words


@dataclass(frozen=True, eq=False)
class NGram:
    """Sentences "The PROTECTED v3 ATTRIBUTE n3." of a protected word, a verb, a word of the vocabulary and an adverb.

    A template is a verb with an adverb. Each word depends on the two before it, the adverb on the one before it.

    - `templates`, `protected`, `attributes`: sentences and words; halves of the words are lists.
    - `following`: log probability of each word of the vocabulary after a protected word and a verb, (templates,
      protected words, vocabulary); attribute words come first.
    - `ending`: log probability of each adverb after each word of the vocabulary, (vocabulary, templates).
    - `word_leans`: what each protected word adds to the planted association.
    """

    templates: list[str]
    protected: list[str]
    attributes: list[str]
    following: np.ndarray
    ending: np.ndarray
    word_leans: np.ndarray

    @classmethod
    def planted(cls, association: float, words: int, templates: int, rng: np.random.Generator) -> "NGram":
        """Return a model of new words, in which associated words are likelier by `association` nats on average."""
        normal, half = rng.standard_normal, np.repeat([1.0, -1.0], words)
        sign = np.outer(half, half)  # whether a pair is associated
        word_leans = WORD * normal(2 * words)
        lean = (
            association
            + word_leans[:, None]
            + ATTRIBUTE * normal(2 * words)
            + PAIR * normal((2 * words, 2 * words))
            + TEMPLATE * normal((templates, 1, 1))
            + TEMPLATE_WORD * normal((templates, 2 * words, 1))
            + RESIDUAL * normal((templates, 2 * words, 2 * words))
        )
        scores = np.zeros((templates, 2 * words, 2 * words + OTHERS))
        scores[..., : 2 * words] = FREQUENCY * normal(2 * words) + sign * lean / 2
        scores[..., 2 * words :] = FREQUENCY * normal((templates, 2 * words, OTHERS))
        ending = log_softmax(normal((2 * words + OTHERS, templates)), axis=1)
        return cls(
            [f"The PROTECTED v{number} ATTRIBUTE n{number}." for number in range(templates)],
            [f"p{number}" for number in range(2 * words)],
            [f"a{number}" for number in range(2 * words)],
            log_softmax(scores, axis=2),
            ending,
            word_leans,
        )

    def log_probability(self, template: str, protected: str, attribute: str) -> float:
        """Return the log probability of an attribute word in its place, given the sentence on both sides of it."""
        row, word, choice = self._places(template, protected, attribute)
        joint = self.following[row, word] + self.ending[:, row]
        return float(joint[choice] - np.logaddexp.reduce(joint))

    def enumerated(self, template: str, protected: str, attribute: str) -> float:
        """Return the same number from the probabilities of all sentences that differ in this place."""
        row, word, choice = self._places(template, protected, attribute)
        start = 1 / len(self.protected) / len(self.templates)  # of the protected word and the verb
        sentences = {
            (candidate, adverb): start
            * np.exp(self.following[row, word, candidate])
            * np.exp(self.ending[candidate, adverb])
            for candidate, adverb in product(range(len(self.ending)), range(len(self.templates)))
        }
        same_end = sum(chance for (_, adverb), chance in sentences.items() if adverb == row)
        return float(np.log(sentences[choice, row] / same_end))

    def _places(self, template: str, protected: str, attribute: str) -> tuple[int, int, int]:
        return self.templates.index(template), self.protected.index(protected), self.attributes.index(attribute)
