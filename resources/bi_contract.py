"""The contract of schema `bi`: what dashboards may rely on, as a file that is compared with a real database.

Columns and views may be added, columns at the end. One that leaves, changes its name, type or place, or a grain that
changes, breaks what people built: that comes as a view of its own beside the old one, `bi.<view>_v2`. The file is
refreshed by `python -m resources.bi_contract`, which refuses what breaks unless it is told `--breaking`.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from scoring.errors import InputError

FILE = Path(__file__).with_name("bi_contract.json")
BREAKING, NEW = "breaking", "new"

Contract = Mapping[str, Mapping[str, Any]]
"""By view: its `grain`, its `key`, and its `columns` by name in their order, each with its type in Postgres."""

_FOUND = text("""
select n.nspname || '.' || c.relname as view, coalesce(obj_description(c.oid, 'pg_class'), '') as grain,
       a.attname as name, format_type(a.atttypid, a.atttypmod) as type
from pg_class c join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where n.nspname = 'bi' and c.relkind in ('v', 'm', 'r') order by n.nspname, c.relname collate "C", a.attnum
""")


def agreed() -> Contract:
    """The contract as the file has it."""
    contract: Contract = json.loads(FILE.read_text(encoding="utf-8"))
    return contract


def found(engine: Engine) -> Contract:
    """Schema `bi` as this database has it; empty where there is none."""
    views: dict[str, dict[str, Any]] = {}
    with engine.connect() as connection:
        for row in connection.execute(_FOUND):
            view = views.setdefault(row.view, {"grain": row.grain, "key": _key_in(row.grain), "columns": {}})
            view["columns"][row.name] = row.type
    return views


def _key_in(grain: str) -> list[str]:
    """The key that the comment of a view names, which no two of its rows share."""
    named = re.search(r"Key: ([a-z0-9_, ]+)\.$", grain)
    return named.group(1).split(", ") if named else []


def differences(engine: Engine) -> tuple[str, ...]:
    """Where this database is not as agreed, a sentence each that begins with `breaking:` or `new:`."""
    return tuple(compared(agreed(), found(engine)))


def is_breaking(difference: str) -> bool:
    """Whether the difference breaks what was built on the views."""
    return difference.startswith(BREAKING)


def compared(old: Contract, new: Contract) -> Iterator[str]:
    """How `new` differs from `old`, view by view."""
    for view in old:
        if view in new:
            yield from _view_differences(view, old[view], new[view])
        else:
            yield f"{BREAKING}: {view} is gone"
    yield from (f"{NEW}: {view} is not in the contract" for view in new if view not in old)


def _view_differences(view: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = old["columns"], new["columns"]
    if old["key"] != new["key"]:
        yield f"{BREAKING}: the key of {view} is {_listed(new['key'])}, agreed is {_listed(old['key'])}"
    elif old["grain"] != new["grain"]:
        yield f"{NEW}: {view} says its grain in other words"
    for name, kind in before.items():
        if name not in after:
            yield f"{BREAKING}: {view}.{name} is gone"
        elif after[name] != kind:
            yield f"{BREAKING}: {view}.{name} is {after[name]}, agreed is {kind}"
    yield from (f"{NEW}: {view}.{name} is not in the contract" for name in after if name not in before)
    if _is_moved(list(before), list(after)):
        yield f"{BREAKING}: the columns of {view} stand in another order; new ones belong at the end"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"


def _is_moved(before: Sequence[str], after: Sequence[str]) -> bool:
    kept = [name for name in before if name in after]
    return list(after[: len(kept)]) != kept


def write(contract: Contract, *, is_breaking_allowed: bool) -> None:
    """The file holds this contract. Raises InputError, and leaves the file, where that breaks the one it holds."""
    old = agreed() if FILE.exists() else {}
    broken = [one for one in compared(old, contract) if is_breaking(one)]
    if broken and not is_breaking_allowed:
        raise InputError(
            f"{len(broken)} changes break what people built on the views: {'; '.join(broken)}",
            where=FILE.name,
            remedy="Add a view of its own beside the old one (bi.<view>_v2), or say --breaking before a major release",
        )
    FILE.write_text(json.dumps(contract, indent=1) + "\n", encoding="utf-8")


def _refresh(arguments: Sequence[str]) -> None:
    """The file says what a fresh database of this version has."""
    from resources.database import engine_for
    from resources.home import Home
    from resources.migrate import upgrade
    from resources.postgres import EmbeddedPostgres

    with tempfile.TemporaryDirectory(prefix="assay-contract-") as folder:
        Path(folder).chmod(0o711)  # the account that runs Postgres for root passes through
        postgres = EmbeddedPostgres(Home(root=Path(folder)), is_durable=False)
        try:
            engine = engine_for(postgres.ensure().url)
            upgrade(engine)
            write(found(engine), is_breaking_allowed="--breaking" in arguments)
            engine.dispose()
        finally:
            postgres.stop()


if __name__ == "__main__":
    try:
        _refresh(sys.argv[1:])
    except InputError as error:
        sys.exit(str(error))
