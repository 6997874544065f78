"""An answer in a whole sentence, brought back to the answer.

Models asked for `the capital of Togo` write `The capital of Togo is Lomé`. What the field's own title and description
already say, and the small words of a sentence, add nothing; what else the sentence says stays.
"""

from __future__ import annotations

import re
from functools import lru_cache

from scoring.word_tables import FILLERS, NEGATIONS
from scoring.words import (
    Words,
    with_digits,
    with_full_words,
    with_one_region,
    with_plain_symbols,
    without_accents,
    words_of,
)

# Values that a description gives as examples or choices: an answer that holds two of them repeats no question.
_CHOICES = re.compile(
    r"\([^()]*\)"
    r"|\b(?:e\.g\.|i\.e\.|z\.b\.|bijv\.|np\.|(?:for example|for instance|such as|one of|either|including|allowed values"
    r"|possible values|options|zum beispiel|bijvoorbeeld|par exemple|por ejemplo)\b)[^.;]*"
    r"|\w+(?:, \w+)*,? (?:or|oder|ou|lub) \w+(?=$|[.,;:?!])"
)


@lru_cache(1 << 14)
def canonical(normal: str) -> Words:
    """The words of a normal form, each in one spelling: no accents, no abbreviations, numbers in digits."""
    words = with_plain_symbols(without_accents(words_of(normal)))
    return with_digits(with_one_region(with_full_words(words)))


@lru_cache(1 << 12)
def said_by(context_normal: str) -> frozenset[str]:
    """The words that an answer may repeat from the field's context, singular: none that is an example or a choice."""
    plain = _CHOICES.sub(" ", context_normal)
    choices = {word for match in _CHOICES.finditer(context_normal) for word in canonical(match[0])}
    return frozenset(singular(word) for word in canonical(plain)) - choices


def singular(word: str) -> str:
    """The word without the ending of an English plural, where it seems to have one."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def answer_words(reference_normal: str, candidate_normal: str, context_normal: str) -> Words:
    """The candidate's canonical words without those that only repeat the field's context or fill the sentence.

    A word that the reference holds stays, a negation stays, and so does everything where nothing else would.
    """
    wanted = frozenset(canonical(reference_normal))
    said = said_by(context_normal)
    words = canonical(candidate_normal)
    kept = tuple(word for word in words if word in wanted or word in NEGATIONS or not _is_said(word, said))
    return kept or words


def _is_said(word: str, said: frozenset[str]) -> bool:
    return word in FILLERS or singular(word) in said


def without_fillers(words: Words) -> Words:
    """The words that carry meaning: no small words, except the last word, which may be a name (`Yifan Du`)."""
    return tuple(word for word in words[:-1] if word not in FILLERS or word in NEGATIONS) + words[-1:]
