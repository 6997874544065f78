"""Ids as partition keys and file names, both ways."""

from __future__ import annotations

import re

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]|^\.|^-")
_ESCAPE = re.compile(r"((?:~[0-9a-f]{2})+)")


def safe_key(id_: str) -> str:
    """The id with every character outside `A-Za-z0-9._-` (and a leading dot or hyphen) written as `~hh` per UTF-8 byte.

    Distinct ids have distinct keys; `id_of` reads the id back. The key is safe as a Dagster partition key, in a Hive
    partition and as a file name.
    """
    return _UNSAFE.sub(lambda match: "".join(f"~{byte:02x}" for byte in match[0].encode()), id_)


def id_of(key: str) -> str:
    """The id that `safe_key` wrote as this key."""
    return _ESCAPE.sub(lambda match: bytes.fromhex(match[0].replace("~", "")).decode(), key)
