"""Phrases for attribute words by their connection: of one protected group, the other list belongs to no group."""

from dataclasses import dataclass

from bayesbias.errors import name_some
from bayesbias.models.data import ModelData
from bayesbias.reports.posterior.group_statements import list_names


@dataclass(frozen=True)
class AttributePhrases:
    """Phrases for sentences about the attribute words of a study.

    Parameters
    ----------
    words : mapping of str
        Noun phrase for the attribute words of a connection.
    associated
        Associated words, after "nearer to".
    different
        Different words, after "nearer to the associated words than".
    reverse
        What it reverses that associated words are farther away than different ones.
    not_specific
        What is not shown where associated words are nearer than control words alone.
    nothing
        Verdict where no contrast is settled.
    """

    words: dict[str, str]
    associated: str
    different: str
    reverse: str
    not_specific: str
    nothing: str


_CONTROLS = {"human": "human control words", "neutral": "neutral control words"}
_SEVERAL_GROUPS = AttributePhrases(
    {
        "associated": "associated attribute words",
        "different": "attribute words associated with other groups",
        **_CONTROLS,
    },
    associated="the attribute words associated with their own group",
    different="those of other groups",
    reverse="the stereotype",
    not_specific="their nearness is not shown to follow the stereotype",
    nothing="No association that follows the stereotype is shown for these word lists as a whole.",
)
_ONE_GROUP = AttributePhrases(
    {"associated": "associated attribute words", "different": "the other attribute words", **_CONTROLS},
    associated="the associated attribute words",
    different="the other attribute words",
    reverse="the association in question",
    not_specific="they are not shown to be nearer to one list than to the other",
    nothing="The protected words as a whole are not shown to be nearer to one list than to the other.",
)


def attribute_phrases(groups: int) -> AttributePhrases:
    """Return phrases for a study with this number of protected groups.

    >>> attribute_phrases(2).words["different"], attribute_phrases(1).words["different"]
    ('attribute words associated with other groups', 'the other attribute words')
    """
    return _ONE_GROUP if groups == 1 else _SEVERAL_GROUPS


def named_phrases(data: ModelData) -> dict[str, str]:
    """Return a noun phrase for each connection, with the names of the two lists if one protected group is compared."""
    groups = sorted(set(data.protected_groups[data.compared].tolist()))
    words = attribute_phrases(len(groups)).words
    if len(groups) > 1 or data.attribute_groups is None:
        return words
    lists = {
        name: list_names(data, groups[0], name) for name in ("associated", "different") if name in data.connections
    }
    return words | {name: f"{words[name]} ({name_some(names, 4)})" for name, names in lists.items()}
