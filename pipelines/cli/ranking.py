"""`assay ranking`: who stands where, why, and which positions are no real difference (SPEC 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import terminal
from pipelines.cli.export import write_rows
from pipelines.cli.options import AsJson, CsvOption, ParquetOption, WorkspaceOption
from scoring.errors import InputError

if TYPE_CHECKING:
    from pipelines.session import Session
    from resources.scenarios import Scenario
    from scoring.ranking import Place, Weights

PARTS = ("quality", "speed", "cost")


def ranking(
    scenarios: Annotated[
        list[str] | None, typer.Argument(metavar="[SCENARIO...]", help="Over these scenarios; all if none.")
    ] = None,
    with_stale: Annotated[bool, typer.Option("--include-stale", help="Count stale scores too.")] = False,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="quality=50,speed=25,cost=25", help="Other weights than those of assay.yaml; they sum to 100."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
    as_csv: CsvOption = False,
    parquet: ParquetOption = None,
) -> None:
    """Rank the models by quality, speed and cost."""
    from pipelines.session import open_session

    chosen = None if weights is None else weights_from(weights)
    with open_session(workspace) as session:
        found = ranked(session, scenarios or None, with_stale=with_stale, weights=chosen)
    if as_json:
        terminal.print_json(found)
    elif as_csv or parquet is not None:
        write_rows(found["places"], parquet=parquet, relation="ranking")
    else:
        show_ranking(found)


def weights_from(text: str) -> Weights:
    """The weights in `quality=50,speed=25,cost=25`; a part left out weighs nothing. Raises InputError."""
    from scoring.ranking import Weights

    given: dict[str, float] = dict.fromkeys(PARTS, 0.0)
    for piece in text.split(","):
        name, _, number = piece.partition("=")
        if name.strip() not in PARTS:
            raise InputError(
                f"unknown weight {name.strip()!r}", where="--weights", remedy=f"Allowed: {', '.join(PARTS)}."
            )
        try:
            given[name.strip()] = float(number)
        except ValueError:
            raise InputError(
                f"{number!r} is no number", where="--weights", remedy="Write quality=50,speed=25,cost=25"
            ) from None
    return Weights(**given)


def ranked(
    session: Session, scenarios: Sequence[str] | None, *, with_stale: bool, weights: Weights | None
) -> dict[str, Any]:
    """The ranking as JSON: the weights, the places, the groups that cannot be told apart, what was left out."""
    from scoring.ranking import groups_of, rank

    known = [session.workspace.scenario(scenario_id) for scenario_id in scenarios or ()] or session.workspace.scenarios
    ids = [scenario.scenario_id for scenario in known]
    every = {(row.scenario_id, row.model_id): row for row in session.warehouse.ranking_rows(ids, with_stale=True)}
    fresh = {(row.scenario_id, row.model_id) for row in session.warehouse.ranking_rows(ids, with_stale=False)}
    counted = [row for key, row in every.items() if with_stale or key in fresh]
    own = {scenario.scenario_id: weights or _weights_of(scenario.weights) for scenario in known}
    places = rank(counted, own)
    return {
        "scenarios": ids,
        "weights": _weights_json(own, [row.scenario_id for row in counted]),
        "places": [_place_json(place) for place in places],
        "groups": [list(group) for group in groups_of(places)],
        "exact_only": _exact_only(known, {row.scenario_id for row in counted}),
        "judge_family": _judge_family(session, ids, {(row.scenario_id, row.model_id) for row in counted}),
        "stale": {"counted": with_stale, "scores": len(every) - len(fresh)},
    }


def _exact_only(known: Sequence[Scenario], scored: set[str]) -> list[str]:
    ids = [scenario.scenario_id for scenario in known if scenario.scoring.embedding.value is None]
    return [scenario_id for scenario_id in ids if scenario_id in scored]


def _judge_family(session: Session, ids: Sequence[str], counted: set[tuple[str, str]]) -> list[str]:
    """The ranked models that a judge of their own family has judged."""
    return sorted({cell[1] for cell in session.warehouse.judge_kin(ids) if cell in counted})


def _weights_of(weights: Any) -> Weights:
    from scoring.ranking import Weights

    return Weights(quality=weights.quality, speed=weights.speed, cost=weights.cost)


def _weights_json(own: Mapping[str, Weights], scenarios: Sequence[str]) -> list[dict[str, Any]]:
    """The distinct weights with the number of scenarios they hold for."""
    used = [own[scenario_id] for scenario_id in sorted(set(scenarios) or own)]
    return [{**asdict(weights), "scenarios": used.count(weights)} for weights in dict.fromkeys(used)]


def _place_json(place: Place) -> dict[str, Any]:
    return {**asdict(place), "tied_with": list(place.tied_with), "unknown_parts": list(place.unknown_parts)}


def show_ranking(found: Mapping[str, Any]) -> None:
    """The ranking as a table, and under it all that qualifies it."""
    page = terminal.screen()
    if not found["places"]:
        page.print("Nothing is ranked yet. Score the recorded runs with: assay score")
    else:
        terminal.print_table(page, _table(found), optional=("price", "time", "scenarios"))
    for note in notes(found):
        page.print(note)


def _table(found: Mapping[str, Any]) -> Any:
    columns = ("score", "quality", "speed", "cost", "time", "price", "scenarios")
    made = terminal.table("#", "model", *columns, "tied with", numbers=("#", *columns))
    positions = {place["model_id"]: place["position"] for place in found["places"]}
    for place in found["places"]:
        made.add_row(
            str(place["position"]),
            place["model_id"],
            terminal.number(place["total"]),
            terminal.number(place["quality"]),
            _part(place, "speed"),
            _part(place, "cost"),
            terminal.seconds(place["mean_duration_seconds"]),
            terminal.dollars(place["mean_cost_usd"]),
            str(place["scenarios"]),
            _ties(place["tied_with"], positions),
        )
    return made


def _part(place: Mapping[str, Any], part: str) -> str:
    mark = "*" if part in place["unknown_parts"] else ""
    return terminal.number(place[part]) + mark


def _ties(models: Sequence[str], positions: Mapping[str, int]) -> str:
    """The positions of these models, neighbours drawn together: `1, 3-5`."""
    runs: list[list[int]] = []
    for position in sorted({positions[model] for model in models}):
        if runs and position == runs[-1][1] + 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def notes(found: Mapping[str, Any]) -> list[str]:
    """What a reader of the ranking must know: weights, unknown parts, ties, mode, what is stale."""
    said = [_weights_note(weights, len(found["weights"])) for weights in found["weights"]] if found["places"] else []
    if any(place["unknown_parts"] for place in found["places"]):
        said.append("* unknown on some scenarios; its weight went to the known parts there.")
    if any(place["tied_with"] for place in found["places"]):
        said.append("Tied with: positions that chance alone could swap with this one.")
    if found["exact_only"]:
        said.append(f"{terminal.EXACT_ONLY} Scenarios: {', '.join(found['exact_only'])}.")
    if found["judge_family"]:
        said.append(f"{terminal.JUDGE_FAMILY}. Models: {', '.join(found['judge_family'])}.")
    return said + _stale_note(found["stale"])


def _weights_note(weights: Mapping[str, Any], kinds: int) -> str:
    parts = ", ".join(f"{part} {weights[part]:.3g}" for part in PARTS)
    return f"Weights: {parts}" + (f" ({terminal.counted(weights['scenarios'], 'scenario')})." if kinds > 1 else ".")


def _stale_note(stale: Mapping[str, Any]) -> list[str]:
    if not stale["scores"]:
        return []
    how = "counted here" if stale["counted"] else "left out"
    verb = "is" if stale["scores"] == 1 else "are"
    return [f"{terminal.counted(stale['scores'], 'stale score')} {verb} {how}. Score again with: assay score --stale"]
