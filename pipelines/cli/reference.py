"""`assay reference`: the right answer of a scenario, shown and verified."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli import terminal
from pipelines.cli.options import AsJson, WorkspaceOption
from scoring.errors import InputError

app = typer.Typer(help="The right answer of a scenario: show it, verify it.", no_args_is_help=True)

ScenarioArgument = Annotated[str, typer.Argument(metavar="SCENARIO", help="The scenario's id.")]


@app.command()
def show(scenario: ScenarioArgument, workspace: WorkspaceOption = None, as_json: AsJson = False) -> None:
    """Show the newest version of a reference."""
    import json

    from pipelines.session import open_session

    with open_session(workspace) as session:
        scenario_id = session.workspace.scenario(scenario).scenario_id
        head = session.warehouse.head_reference(scenario_id)
    if head is None:
        raise InputError(
            "there is no reference yet", where=scenario_id, remedy="Put it into reference.json beside scenario.yaml"
        )
    if as_json:
        terminal.print_json(
            {
                "scenario_id": scenario_id,
                "version": head.number,
                "verified": head.is_verified,
                "author": head.author,
                "content": head.content,
            }
        )
        return
    page = terminal.screen()
    state = "verified" if head.is_verified else "draft, not scored against"
    page.print(f"{scenario_id}, version {head.number} by {head.author} ({state})", style="bold")
    page.print(json.dumps(head.content, ensure_ascii=False, indent=2), soft_wrap=True)


@app.command()
def verify(
    scenario: ScenarioArgument,
    author: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who vouches for it; the account's name if none.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Vouch for the newest version, so that models can be scored against it."""
    import getpass

    from pipelines.session import open_session

    with open_session(workspace) as session:
        scenario_id = session.workspace.scenario(scenario).scenario_id
        if session.warehouse.head_reference(scenario_id) is None:
            raise InputError(
                "there is no reference yet", where=scenario_id, remedy="Put it into reference.json beside scenario.yaml"
            )
        version = session.warehouse.verify_reference(scenario_id, author or getpass.getuser())
    if as_json:
        terminal.print_json({"scenario_id": scenario_id, "version": version.number, "verified": version.is_verified})
        return
    terminal.screen().print(f"{scenario_id}: version {version.number} is verified by {version.author}.")
