"""`assay bi`: what a BI tool needs to read schema `bi`, and DuckDB to read the lake."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlencode

import typer

from pipelines.cli import terminal
from pipelines.cli.export import write_csv
from pipelines.cli.options import AsJson, CsvOption, WorkspaceOption
from scoring.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

    from resources.bi_role import Login

app = typer.Typer(
    help="Let BI tools read: logins, the contract of the views, the lake in DuckDB.", no_args_is_help=True
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The login's name.")]
CHECK_FAILED = 1
MOST_CHARACTERS = 63  # Postgres cuts longer names without a word


@app.command()
def login(
    name: NameArgument,
    timeout: Annotated[int, typer.Option(metavar="SECONDS", min=1, help="How long a statement may take.")] = 60,
    connections: Annotated[int, typer.Option(metavar="N", min=1, help="How many connections it may have.")] = 20,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Make a login that reads schema bi and nothing else, or give it a new password; shown this once."""
    from pipelines.session import open_stores
    from resources.bi_role import make_login

    if not 0 < len(name.encode()) <= MOST_CHARACTERS:
        raise InputError(f"a login's name has 1 to {MOST_CHARACTERS} bytes", where="NAME")
    with open_stores(workspace) as (_, warehouse):
        made = make_login(warehouse.engine, name, timeout_seconds=timeout, connections=connections)
    if as_json:
        terminal.print_json(_login_json(made))
    else:
        _show_login(made)


@app.command()
def drop(name: NameArgument, workspace: WorkspaceOption = None) -> None:
    """Drop a login and cut off whoever is connected as it."""
    from pipelines.session import open_stores
    from resources.bi_role import drop_login

    with open_stores(workspace) as (_, warehouse):
        drop_login(warehouse.engine, name)
    terminal.screen().print(f"Login {name} is gone.")


@app.command()
def logins(workspace: WorkspaceOption = None, as_json: AsJson = False) -> None:
    """List the logins that read schema bi."""
    from pipelines.session import open_stores
    from resources import bi_role

    with open_stores(workspace) as (_, warehouse):
        found = bi_role.logins(warehouse.engine)
    if as_json:
        terminal.print_json(found)
        return
    page = terminal.screen()
    if not found:
        page.print("There is no login yet. Make one with: assay bi login NAME")
        return
    made = terminal.table("login", "connected", "at most", numbers=("connected", "at most"))
    for row in found:
        made.add_row(str(row["name"]), str(row["connected"]), str(row["connections"]))
    terminal.print_table(page, made)


@app.command()
def contract(workspace: WorkspaceOption = None, as_json: AsJson = False) -> int:
    """Compare schema bi of this database with the contract that dashboards may rely on."""
    from pipelines.session import open_stores
    from resources.bi_contract import agreed, differences

    with open_stores(workspace) as (_, warehouse):
        found = differences(warehouse.engine)
    if as_json:
        terminal.print_json({"differences": found})
    elif found:
        terminal.screen().print("\n".join(found))
    else:
        terminal.screen().print(f"All {len(agreed())} views are as agreed.")
    return CHECK_FAILED if found else 0


@app.command()
def lake(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATASET...", help="runs, field_scores, findings, reference_versions; all of them."),
    ] = None,
    is_latest_only: Annotated[bool, typer.Option("--latest", help="Only what counts now.")] = False,
    workspace: WorkspaceOption = None,
    as_csv: CsvOption = False,
    as_json: AsJson = False,
) -> None:
    """Print SQL that opens the lake in DuckDB: a view of each dataset over the files that exist."""
    from pipelines.session import open_stores
    from resources.lake_sql import duckdb_script, lake_files

    wanted = _known_datasets(datasets)
    with open_stores(workspace) as (_, warehouse):
        found = lake_files(warehouse.engine, warehouse.lake.root, wanted, is_latest_only=is_latest_only)
    if as_json:
        terminal.print_json(found)
    elif as_csv:
        write_csv(found)
    else:
        sys.stdout.writelines(f"{statement}\n" for statement in duckdb_script(found, wanted))


def _known_datasets(named: Sequence[str] | None) -> list[str]:
    from resources.lake_tables import DATASETS

    for one in named or ():
        if one not in DATASETS:
            raise InputError(f"the lake has no dataset '{one}'", remedy=f"It has {', '.join(DATASETS)}")
    return list(dict.fromkeys(named or DATASETS))


def _login_json(made: Login) -> Mapping[str, Any]:
    url = made.url
    return {
        "login": made.name,
        "password": url.password,
        "url": _address(url, with_password=True),
        "host": url.host,
        "port": url.port,
        "database": url.database,
        "statement_timeout_seconds": made.timeout_seconds,
        "connections": made.connections,
        "note": made.note,
    }


def _show_login(made: Login) -> None:
    url = made.url
    whole = _address(url, with_password=True)
    jdbc = f"jdbc:postgresql://{url.host or 'localhost'}:{url.port or 5432}/{url.database}"
    page = terminal.screen()
    page.print(
        f"Login {made.name} reads schema bi and nothing else: {terminal.counted(made.timeout_seconds, 'second')} a "
        f"statement, {terminal.counted(made.connections, 'connection')} at once.\n"
    )
    for label, value in (
        ("password", f"{url.password}   (shown this once; the same command makes a new one)"),
        ("URL", whole),
        ("Superset", whole.replace("postgresql:", "postgresql+psycopg2:", 1)),
        ("JDBC", jdbc),
        ("psql", f'psql "{_address(url, with_password=False)}"'),
    ):
        page.print(f"  {label:<9} {value}", soft_wrap=True)
    if made.note:
        page.print(f"\n{made.note}", soft_wrap=True)
    if _is_embedded():
        page.print(
            "\nThe embedded Postgres answers on this machine only, and while `assay up` or another command runs. "
            "ASSAY_POSTGRES_PORT gives it a port that never changes.",
            soft_wrap=True,
        )


def _address(url: URL, *, with_password: bool) -> str:
    """The URL with every odd character escaped, which not all tools are lenient about."""
    who = quote(url.username or "", safe="")
    secret = f":{quote(str(url.password), safe='')}" if with_password else ""
    host = f"[{url.host}]" if url.host and ":" in url.host else url.host or ""
    port = f":{url.port}" if url.port else ""
    options = f"?{urlencode(dict(url.query), doseq=True)}" if url.query else ""
    return f"postgresql://{who}{secret}@{host}{port}/{quote(url.database or '', safe='')}{options}"


def _is_embedded() -> bool:
    return not os.environ.get("ASSAY_DATABASE_URL")
