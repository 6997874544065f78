"""Which properties of list items identify them without being annotated (SPEC 4).

A property is an evident key when its name says that it identifies, every reference item holds a text or a whole number
there, and no two items of one list hold the same. Such names are `id`, `key`, `code`, `uuid`, `sku`, `isbn` and more of
that sort; else the one name that ends in such a word and names what the list holds (`orderId` in `orders`), or the only
name that ends so. Names and titles are no evident keys: they are often spelt differently, and the similarity of all
fields pairs such items better.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scoring.kinds import words_of
from scoring.records import Json

_KEY_NAMES = (
    *("id", "key", "uuid", "guid", "code", "sku", "isbn", "issn", "doi", "ean", "gtin", "upc", "iban", "vin", "orcid"),
    *("identifier", "slug"),
)
_KEY_ENDINGS = frozenset({"id", "uuid", "guid", "sku", "isbn", "doi"})
_LABEL_NAMES = ("name", "title", "label", "heading")


def evident_keys(list_name: str, lists: Sequence[Json]) -> tuple[str, ...]:
    """The one property that identifies the items of each of these reference lists, or nothing."""
    items = [item for held in lists if isinstance(held, list) for item in held]
    if not items or not all(isinstance(item, dict) for item in items):
        return ()
    names = list(dict.fromkeys(name for item in items if isinstance(item, dict) for name in item))
    for name in _candidates(list_name, names):
        if all(_identifies(name, held) for held in lists if isinstance(held, list)):
            return (name,)
    return ()


def label_of(keys: Sequence[str], names: Iterable[str]) -> str | None:
    """The property that names an item to people: a name or title where there is one, else the first key."""
    names = list(names)
    by_word = {words_of(name): name for name in reversed(names)}
    for word in _LABEL_NAMES:
        if (word,) in by_word:
            return by_word[(word,)]
    for word in _LABEL_NAMES:
        for name in names:
            if words_of(name)[-1:] == (word,):
                return name
    return keys[0] if keys else None


def _candidates(list_name: str, names: Sequence[str]) -> list[str]:
    whole = [name for word in _KEY_NAMES for name in names if words_of(name) == (word,)]
    ending = [
        name for name in names if name not in whole and words_of(name)[-1:] and words_of(name)[-1] in _KEY_ENDINGS
    ]
    own = [name for name in ending if _names_item_of(list_name, words_of(name)[:-1])]
    return [*whole, *(own if len(own) == 1 else ending if len(ending) == 1 else [])]


def _names_item_of(list_name: str, stem: Sequence[str]) -> bool:
    """Whether `line` of `lineId` is what the list `invoiceLines` holds."""
    last = words_of(list_name)[-1:]
    return bool(last and stem) and stem[-1] in (last[0], last[0].removesuffix("s"), last[0].removesuffix("es"))


def _identifies(name: str, items: Sequence[Json]) -> bool:
    seen: set[str] = set()
    for item in items:
        value = item.get(name) if isinstance(item, dict) else None
        if isinstance(value, bool) or not isinstance(value, str | int):
            return False
        key = str(value).strip().casefold()
        if not key or key in seen:
            return False
        seen.add(key)
    return True
