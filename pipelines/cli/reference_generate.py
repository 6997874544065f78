"""`assay reference generate`: a draft made by several strong models together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import references, terminal
from pipelines.cli.options import AsJson, WorkspaceOption
from pipelines.cli.references import AuthorOption, ScenarioArgument, author_of, opened
from scoring.errors import InputError

if TYPE_CHECKING:
    from pipelines.generating import Asked, Generated
    from resources.references import ReferenceVersion


def generate(
    scenario: ScenarioArgument,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", metavar="MODEL", help="Ask this model; repeatable. Else the dearest three."),
    ] = None,
    is_without_web: Annotated[bool, typer.Option("--no-web", help="Do not let models search the web.")] = False,
    is_over: Annotated[
        bool, typer.Option("--over", help="Also where there is a reference; the old version stays.")
    ] = False,
    author: AuthorOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Let strong models answer the scenario's prompt, and merge their answers field by field into a draft."""
    from pipelines.generating import generate_reference, strong_models
    from resources.references import ReferenceConflictError, ReferenceOrigin

    with opened(workspace, scenario) as reference:
        head = reference.references.head(reference.scenario_id)
        if head is not None and not is_over:
            remedy = "Make a new draft over it with --over; every earlier version can be read again"
            raise InputError(f"there is a reference already, version {head.number}", where=scenario, remedy=remedy)
        model_ids = strong_models(reference.session.workspace, models or ())
        with terminal.progress("asking models") as move:
            made = generate_reference(
                reference.session, reference.scenario, model_ids, wants_web_search=not is_without_web, on_answer=move
            )
        given = [one.model_id for one in made.asked if one.error is None]
        try:
            version = reference.references.save(
                reference.scenario_id,
                made.draft.content,
                author=author_of(author),
                origin=ReferenceOrigin.GENERATED,
                based_on=0 if head is None else head.number,
                note=f"answers of {', '.join(given)}",
                provenance=made.draft.provenance,
            )
        except ReferenceConflictError as error:
            return references.conflict(error, as_json=as_json)
    _print(version, made, as_json=as_json)
    return references.DONE


def _print(version: ReferenceVersion, made: Generated, *, as_json: bool) -> None:
    if as_json:
        rows = [_row(one) for one in made.asked]
        content = {"content": version.content, "models": rows, "values": len(made.draft.provenance)}
        terminal.print_json(references.version_row(version) | content)
        return
    page = terminal.screen()
    table = terminal.table("model", "time", "cost", "web", "result", numbers=("time", "cost"))
    for one in made.asked:
        answer = one.answer
        table.add_row(
            one.model_id,
            terminal.seconds(None if answer is None else answer.duration_seconds),
            terminal.dollars(None if answer is None else answer.cost_usd),
            "searched" if answer is not None and answer.has_searched else "",
            one.error or "answered",
        )
    terminal.print_table(page, table, optional=("web",))
    agreed = sum(not one.others and len(one.models) > 1 for one in made.draft.provenance)
    page.print(
        f"{terminal.counted(len(made.draft.provenance), 'value')}, {agreed:,} of them given alike by all who gave one. "
        f"Where each comes from: assay reference log {version.scenario_id}",
        soft_wrap=True,
    )
    references.print_version(version, "generated a draft", as_json=False)


def _row(one: Asked) -> dict[str, Any]:
    answer = one.answer
    return {
        "model_id": one.model_id,
        "seconds": None if answer is None else answer.duration_seconds,
        "cost_usd": None if answer is None else answer.cost_usd,
        "searched_web": answer is not None and answer.has_searched,
        "error": one.error,
    }
