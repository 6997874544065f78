"""Spellings that are the same without any model (SPEC 3, rung 5).

Both texts are brought closer step by step: accents, symbols, abbreviations, regional spellings and numbers become one
spelling, then articles, titles and legal forms that only one side has fall away. The first step after which the two
sides are equal names the rule. Then come the rules about whole names: word order, initials, acronyms. What each rule is
worth on labelled pairs is printed by `python -m benchmarks.agreement`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from scoring.restated import answer_words, canonical, without_fillers
from scoring.word_tables import (
    ARTICLES,
    DIRECTED,
    FILLERS,
    LEGAL_FORMS,
    OMITTED_FORMS,
    POST_NOMINALS,
    SHORT_ACRONYMS,
    SMALL_WORDS,
    STREET_OR_SAINT,
    TITLES,
)
from scoring.words import (
    Words,
    collapsed,
    with_digits,
    with_full_words,
    with_one_region,
    with_plain_symbols,
    without_accents,
    words_of,
)

LONGEST_CHARS = 300
_DOTTED = re.compile(r"[^\W\d_]\.")
_BRACKETED = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*")
_Step = Callable[[Words, Words], tuple[Words, Words]]


@lru_cache(1 << 14)
def is_variant(reference_normal: str, candidate_normal: str, context_normal: str = "") -> str | None:
    """The name of the rule by which the two normal forms spell the same, None where no rule says so.

    The context is the field's title and description in normal form: an answer that only repeats it around the
    reference's value is `restated`. Symmetric but for that rule. Texts of more than 300 characters are never variants:
    they are no names.
    """
    if max(len(reference_normal), len(candidate_normal)) > LONGEST_CHARS:
        return None
    if not may_be_variant(reference_normal, candidate_normal, context_normal):
        return None
    left, right = words_of(reference_normal), words_of(candidate_normal)
    if not left or not right:
        return None
    return (
        _shared_spelling(left, right)
        or _initials(reference_normal, candidate_normal)
        or _comma_order(reference_normal, candidate_normal)
        or _comma_order(candidate_normal, reference_normal)
        or _acronym_beside_name(reference_normal, candidate_normal)
        or _acronym_beside_name(candidate_normal, reference_normal)
        or _restated(reference_normal, candidate_normal, context_normal)
    )


def may_be_variant(reference_normal: str, candidate_normal: str, context_normal: str = "") -> bool:
    """False only where no rule can hold; quick, so that long lists can ask it for every pair."""
    left, right = _outline(reference_normal), _outline(candidate_normal)
    return (
        left.letters == right.letters
        or left.core_letters == right.core_letters
        or left.initials == right.initials
        or left.short in right.acronyms
        or right.short in left.acronyms
        or left.has_own_acronym
        or right.has_own_acronym
        or (bool(context_normal) and left.content <= right.words)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outline:
    """What any two variants share at least one of."""

    letters: str
    core_letters: str
    initials: str
    short: str
    acronyms: frozenset[str]
    has_own_acronym: bool
    content: frozenset[str]
    words: frozenset[str]


@lru_cache(1 << 14)
def _outline(normal: str) -> _Outline:
    words = canonical(normal)
    whole = _without_article(words)
    short = collapsed(whole)
    return _Outline(
        letters="".join(sorted("".join(words))),
        core_letters="".join(sorted("".join(word for word in words if word not in _DROPPED))),
        initials="".join(sorted(word[0] for word in _without_titles(_full_name(normal)))),
        short=short[0] if len(short) == 1 else "",
        acronyms=_acronyms(whole) | _acronyms(_parted(whole)[0]),
        has_own_acronym=_name_and_acronym(normal) is not None,
        content=frozenset(without_fillers(words)),
        words=frozenset(words),
    )


# Words that one of two variants may have and the other not.
_DROPPED = (
    ARTICLES
    | FILLERS
    | TITLES
    | POST_NOMINALS
    | STREET_OR_SAINT
    | {"st"}
    | {word for form, _ in LEGAL_FORMS for word in form}
)


def _shared_spelling(left: Words, right: Words) -> str | None:
    """The step after which both sides are equal, or the rule about names that holds at the end."""
    if left == right:
        return "punctuation"
    for name, step in _STEPS:
        left, right = step(left, right)
        if left == right and left:
            return name
        if name == "legal form" and _is_spaced_alike(left, right):
            return "spacing"
    if _is_reordered(left, right):
        return "word order"
    if _is_acronym(left, right) or _is_acronym(right, left):
        return "acronym"
    return None


def _on_both(change: Callable[[Words], Words]) -> _Step:
    return lambda left, right: (change(left), change(right))


def _saint_or_street(left: Words, right: Words) -> tuple[Words, Words]:
    """`st` becomes what the other side has in its place, saint or street."""
    return _resolved(left, right), _resolved(right, left)


def _resolved(words: Words, others: Words) -> Words:
    meanings = STREET_OR_SAINT.intersection(others)
    if len(meanings) != 1 or "st" not in words:
        return words
    return tuple(next(iter(meanings)) if word == "st" else word for word in words)


def _without_article(words: Words) -> Words:
    """The words without a leading article, where at least one word of three letters stays."""
    rest = words[1:]
    return rest if words and words[0] in ARTICLES and any(len(word) > 2 for word in rest) else words


def _without_lone_title(left: Words, right: Words) -> tuple[Words, Words]:
    """Titles go where only one side has them and a name of two words or more stays; two different titles stay."""
    if _titles(left) and _titles(right):
        return left, right
    return _without_titles(left), _without_titles(right)


def _titles(words: Words) -> Words:
    return tuple(word for word in (*words[:1], *words[-1:]) if word in TITLES or word in POST_NOMINALS)


def _without_titles(words: Words) -> Words:
    name = list(words)
    while len(name) > 2 and name[0] in TITLES:
        name.pop(0)
    while len(name) > 2 and name[-1] in POST_NOMINALS:
        name.pop()
    return tuple(name)


def _without_equal_legal_form(left: Words, right: Words) -> tuple[Words, Words]:
    """Legal forms go where both sides have the same, in whatever spelling, or one has one that means nothing else."""
    left_name, left_form = _parted(left)
    right_name, right_form = _parted(right)
    forms = {left_form, right_form}
    is_same = len(forms) == 1 or ("" in forms and not forms - {""} - OMITTED_FORMS)
    return (left_name, right_name) if is_same else (left, right)


@lru_cache(1 << 14)
def _parted(words: Words) -> tuple[Words, str]:
    """The name and its canonical legal form (empty where there is none), which stands last or first."""
    for form, name in LEGAL_FORMS:
        size = len(form)
        if size >= len(words):
            continue
        if words[-size:] == form:
            return words[:-size], name
        if words[:size] == form and size > 1:
            return words[size:], name
    return words, ""


# In this order; each step sees what the steps before it made.
_STEPS: tuple[tuple[str, _Step], ...] = (
    ("accents", _on_both(without_accents)),
    ("ampersand", _on_both(with_plain_symbols)),
    ("abbreviation", _on_both(with_full_words)),
    ("abbreviation", _saint_or_street),
    ("regional spelling", _on_both(with_one_region)),
    ("spelled-out number", _on_both(with_digits)),
    ("article", _on_both(_without_article)),
    ("title", _without_lone_title),
    ("legal form", _without_equal_legal_form),
)


def _is_spaced_alike(left: Words, right: Words) -> bool:
    """Whether the sides are the same letters with other gaps, and no gap inside a run of digits moved."""
    if "".join(left) != "".join(right):
        return False
    return [word for word in left if word[-1].isdigit()] == [word for word in right if word[-1].isdigit()]


def _is_reordered(left: Words, right: Words) -> bool:
    """Whether the sides are the same few words in another order, and none of them gives the order a meaning."""
    if len(left) > 8 or sorted(left) != sorted(right):
        return False
    return not any(word in DIRECTED or word[-1].isdigit() for word in left)


def _comma_order(inverted: str, other: str) -> str | None:
    """Whether `Beethoven, Ludwig van` is the other text with its surname put first."""
    before, comma, after = inverted.partition(",")
    if not comma or "," in after or not words_of(before) or not words_of(after):
        return None
    straight = words_of(f"{after.strip()} {before}")
    rule = _shared_spelling(straight, words_of(other)) or _initials(f"{after.strip()} {before}", other)
    return "word order" if rule and rule not in {"acronym", "word order"} else None


def _initials(one: str, other: str) -> str | None:
    """Whether the texts are one name, some given names of which one of them shortens to their first letter.

    The last word and the number of words must agree, so that `George W. Bush` is neither `George Bush` nor
    `George H. W. Bush`. Between two words only a letter with a dot is an initial: a `T cell` is no `tumor cell`.
    """
    left, right = _without_lone_title(_full_name(one), _full_name(other))
    if len(left) != len(right) or len(left) < 2:
        return None
    if len(left) == 2 and not (_DOTTED.search(one) or _DOTTED.search(other)):
        return None
    pairs = list(zip(left, right, strict=True))
    if not _is_surname(pairs) or pairs[0][0] == pairs[0][1] == pairs[-1][0]:
        return None
    is_same = all(a == b or _is_initial_of(a, b) or _is_initial_of(b, a) for a, b in pairs)
    return "initials" if is_same and left != right else None


def _full_name(normal: str) -> Words:
    return with_full_words(without_accents(words_of(normal)))


def _is_surname(pairs: list[tuple[str, str]]) -> bool:
    """Whether the last pair (before `junior`) is one word of two letters or more, and no number."""
    last, other = pairs[-2] if pairs[-1][0] in {"junior", "senior"} and pairs[-1][0] == pairs[-1][1] else pairs[-1]
    return last == other and len(last) > 1 and not last[-1].isdigit()


def _is_initial_of(short: str, long: str) -> bool:
    return len(short) == 1 and short.isalpha() and len(long) > 1 and long.startswith(short)


def _is_acronym(short: Words, long: Words) -> bool:
    """Whether the one word of `short` is made of the first letters of `long`, small words counted or not."""
    short = collapsed(short)
    if len(short) != 1 or len(long) < 2 or not short[0].isalpha() or not 2 <= len(short[0]) <= 8:
        return False
    if len(short[0]) == 2 and short[0] not in SHORT_ACRONYMS:
        return False
    return short[0] in _acronyms(long)


def _acronyms(words: Words) -> frozenset[str]:
    """The first letters of the words, small words counted or not, where at least two of them are not small."""
    named = tuple(word for word in words if word not in SMALL_WORDS)
    return frozenset("".join(word[0] for word in spelt) for spelt in (words, named) if len(named) > 1)


def _acronym_beside_name(both: str, single: str) -> str | None:
    """Whether one text is a name with its own acronym in brackets, and the other the name or the acronym."""
    parts = _name_and_acronym(both)
    if parts is None:
        return None
    other = words_of(single)
    return "acronym" if any(_shared_spelling(part, other) for part in parts) else None


@lru_cache(1 << 14)
def _name_and_acronym(normal: str) -> tuple[Words, Words] | None:
    """What stands in and around the first brackets, where one is the acronym of the other."""
    match = _BRACKETED.search(normal)
    if not match:
        return None
    inner, outer = words_of(match[1]), words_of(f"{normal[: match.start()]} {normal[match.end() :]}")
    return (inner, outer) if _is_acronym(inner, outer) or _is_acronym(outer, inner) else None


def _restated(reference: str, candidate: str, context: str) -> str | None:
    """Whether the candidate is the reference with only small words, or words of the context, around it."""
    wanted, said = canonical(reference), canonical(candidate)
    if without_fillers(wanted) == without_fillers(said) and _have_nested_fillers(wanted, said):
        return "small words"
    answer = answer_words(reference, candidate, context)
    if context and answer != said and without_fillers(answer) == without_fillers(wanted):
        return "restated"
    return None


def _have_nested_fillers(left: Words, right: Words) -> bool:
    """Whether one side's small words are all on the other side too: `to Paris` is not `from Paris`."""
    left_fillers, right_fillers = FILLERS.intersection(left), FILLERS.intersection(right)
    return left_fillers <= right_fillers or right_fillers <= left_fillers
