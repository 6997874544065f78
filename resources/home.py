"""Where Assay keeps what it records: one home per workspace."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from scoring.keys import safe_key

_ROOT_DATA = Path("/var/lib/assay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The folder that holds the embedded database, the lake, Dagster's home and logs of one workspace."""

    root: Path

    @property
    def postgres(self) -> Path:
        """The embedded cluster."""
        return self.root / "postgres"

    @property
    def lake(self) -> Path:
        """The Parquet lake, unless `ASSAY_LAKE` names another."""
        return self.root / "lake"

    @property
    def lake_root(self) -> str:
        """What `Lake` opens: `ASSAY_LAKE` (a path or `s3://bucket/prefix`) or the folder in this home."""
        return os.environ.get("ASSAY_LAKE") or str(self.lake)

    @property
    def dagster(self) -> Path:
        """Dagster's own home (`DAGSTER_HOME`)."""
        return self.root / "dagster"

    @property
    def logs(self) -> Path:
        """Logs of the processes that `assay up` starts."""
        return self.root / "logs"

    def make(self) -> Home:
        """This home, with its folders in place; only the owner may list it."""
        self.root.mkdir(parents=True, exist_ok=True)
        for folder in (self.dagster, self.logs):
            folder.mkdir(exist_ok=True, mode=0o700)
        return self


def data_root() -> Path:
    """Where homes lie unless `ASSAY_HOME` names one: `$XDG_DATA_HOME/assay` or `~/.local/share/assay`.

    For root it is `/var/lib/assay`, since the account that runs Postgres must reach it and cannot reach root's own
    folder.
    """
    if os.geteuid() == 0:
        return _ROOT_DATA
    named = os.environ.get("XDG_DATA_HOME", "")
    return (Path(named) if named.startswith("/") else Path.home() / ".local" / "share") / "assay"


def home_for(workspace: Path | None) -> Home:
    """The home of a workspace: `ASSAY_HOME`, else `<data root>/<folder name>-<8 hex digits of its absolute path>`.

    Without a workspace the current folder stands for it. Nothing is created.
    """
    named = os.environ.get("ASSAY_HOME")
    if named:
        return Home(root=Path(named).expanduser().absolute())
    place = (workspace or Path.cwd()).resolve()
    digest = hashlib.sha256(os.fsencode(place)).hexdigest()[:8]
    return Home(root=data_root() / f"{safe_key(place.name) or 'root'}-{digest}")
