"""The unprivileged account that runs Postgres where Assay itself runs as root."""

from __future__ import annotations

import os
import pwd
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring.errors import InputError

_CANDIDATES = ("postgres", "nobody")
_CLUSTERS = Path("/var/lib/assay/clusters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A system account without rights of its own."""

    name: str
    uid: int
    gid: int

    def as_arguments(self) -> dict[str, Any]:
        """What `subprocess.run` takes to run as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def make_way(self, folder: Path) -> None:
        """This account reaches `folder`, which does not exist yet; nobody's folders but our own are opened.

        The home itself is opened for passing through. Where a parent is closed (`/root`), `folder` becomes a link to a
        new place below `/var/lib/assay`.
        """
        if is_reachable(folder.parent.parent, self):
            folder.parent.chmod(folder.parent.stat().st_mode | stat.S_IXOTH)
            return
        place = _CLUSTERS / secrets.token_hex(8)
        place.mkdir(parents=True, mode=0o711)
        folder.symlink_to(place)


def account_for(data: Path) -> Account | None:
    """None for a normal user; for root the account that Postgres is to run as, since it refuses root.

    That is the owner of `data` where it exists already. Raises InputError where there is no such account.
    """
    if os.geteuid() != 0:
        return None
    if data.exists() and (found := data.stat()).st_uid != 0:
        return Account(name=str(found.st_uid), uid=found.st_uid, gid=found.st_gid)
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise InputError(
        "running as root, and neither account 'postgres' nor 'nobody' exists to run Postgres as",
        remedy="Create one, run as a normal user, or set ASSAY_DATABASE_URL",
    )


def is_reachable(path: Path, account: Account) -> bool:
    """Whether the account may pass through every folder down to `path` and enter or run it."""
    return all(_may_pass(place.stat(), account) for place in (path, *path.parents))


def _may_pass(found: os.stat_result, account: Account) -> bool:
    if found.st_uid == account.uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid == account.gid:
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)
