"""Eras written beside a year: `333 BC`, `AD 79`, `44 v. Chr.`, `紀元前333年`."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Letters only, since full stops and spaces may be missing. `ekr` is left out: before Christ in Finnish, not in Swedish.
_BEFORE_NAMES = (
    "bc bce beforechrist vchr vorchr vorchristus vuz voorchr voorchristus avjc avantjc avantjésuschrist "
    "avantjesuschrist ac aec antesdecristo avanticristo pne przednasząerą přnl přkr fkr fvt eaa донэ донашейэры доне "
    "mö πχ îhr ien ie"
)
_BEFORE = frozenset(_BEFORE_NAMES.split())
_AFTER_NAMES = (
    "ad ce annodomini nchr nachchr nachchristus uz nachristus apjc aprjc aprèsjc dc ec ne naszejery nl pokr evt jaa нэ "
    "нашейэры не ms μχ dhr en isz"
)
_AFTER = frozenset(_AFTER_NAMES.split())
_BEFORE_PREFIXES = ("紀元前", "公元前", "西元前", "기원전")
_AFTER_PREFIXES = ("公元", "西元", "西暦", "서기")
_MOST_WORDS = 4
_GLUED = re.compile(r"(?<=\d)(?=(?:bce?|ad|ce)\b)")
_THOUSANDS = re.compile(r"(?<=\d)[, ](?=\d{3}\b)")
_INSIDE = re.compile(r"\b(bce?|b\.c\.(?:e\.)?|a\.d\.|ad|ce|[vn]\. ?chr\.|av\. ?j\.-?c\.)(?=[\s,])")
_NO_LETTER = re.compile(r"[\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """A text without its era. `is_before` says that its years count backwards (333 BCE)."""

    rest: str
    is_before: bool


def split_era(form: str) -> Era | None:
    """A casefolded text apart from the era it names before, after or within it; None where it names none.

    The longest name counts: `до н. э.` (BCE) ends in `н. э.` (CE).
    """
    for prefixes, is_before in ((_BEFORE_PREFIXES, True), (_AFTER_PREFIXES, False)):
        if form.startswith(prefixes):
            length = next(len(prefix) for prefix in prefixes if form.startswith(prefix))
            return Era(rest=form[length:].strip().removesuffix("年").removesuffix("년"), is_before=is_before)
    words = _GLUED.sub(" ", form).split()
    for count in range(min(_MOST_WORDS, len(words) - 1), 0, -1):
        for affix, rest in ((words[-count:], words[:-count]), (words[:count], words[count:])):
            if era := _era_of("".join(affix), " ".join(rest)):
                return era
    inside = _INSIDE.search(form)
    return _era_of(inside[1], form[: inside.start()] + form[inside.end() :]) if inside else None


def _era_of(affix: str, rest: str) -> Era | None:
    letters = _NO_LETTER.sub("", affix)
    if any(char.isdigit() for char in affix) or letters not in _BEFORE | _AFTER:
        return None
    return Era(rest=_THOUSANDS.sub("", rest).strip(" ,"), is_before=letters in _BEFORE)
