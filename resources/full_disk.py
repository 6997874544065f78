"""A full disk, told from other failures, and what a person does about it."""

from __future__ import annotations

import errno

_NUMBERS = (errno.ENOSPC, errno.EDQUOT)
FULL_DISK_WORDS = ("No space left on device", "Disk quota exceeded")
REMEDY = "Free some space there, then run the command again: what was committed is kept, and nothing is half there"


def is_full_disk(error: BaseException) -> bool:
    """Whether a disk that is full, or a quota that is used up, is behind the error: ours, Postgres' or the lake's."""
    if isinstance(error, OSError) and error.errno in _NUMBERS:
        return True
    return any(words in str(error) for words in FULL_DISK_WORDS)


def words_of(error: Exception) -> str:
    """The error in words for people, with the remedy where the disk is full."""
    text = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    return f"the disk is full: {text}. {REMEDY}" if is_full_disk(error) else text
