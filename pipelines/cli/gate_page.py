"""How `assay gate` speaks: a table, what speaks against the scores, and one last line that holds the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipelines.cli import terminal

if TYPE_CHECKING:
    from rich.table import Table

Found = Mapping[str, Any]

MOST_REASONS = 3
FINEST = 6  # decimals to which a figure is written out where fewer would hide on which side of its bound it lies


def reasons_of(found: Found) -> list[str]:
    """Why the gate fails, each in a few words; nothing where every bound that was asked for holds."""
    said = [_told(found, problem) for problem in found["problems"] if problem["is_blocking"]]
    if not found["scenarios"]:
        said.append("no scenario has a score (assay score)")
    return said + [_said(found, check) for check in found["overall"]["checks"].values() if not check["holds"]]


def verdict_of(found: Found) -> str:
    """The last line: `gate passed: ...` or `gate failed: ...`."""
    if found["passed"]:
        held = [_said(found, check) for check in found["overall"]["checks"].values()]
        excused = dict.fromkeys(one["kind"] for one in found["problems"] if one["kind"] in found["allowed"])
        let_through = [f"let through: {', '.join(excused)}"] if excused else []
        return f"gate passed: {found['model_id']}: {'; '.join([*held, *let_through])}"
    reasons = list(found["reasons"])
    shown, more = reasons[:MOST_REASONS], len(reasons) - MOST_REASONS
    return f"gate failed: {found['model_id']}: {'; '.join(shown)}" + (f"; and {more:,} more" if more > 0 else "")


def show(found: Found) -> None:
    """The rows as a table, all that speaks against them, what a reader must know, and the verdict."""
    page = terminal.screen()
    if found["scenarios"]:
        terminal.print_table(page, _table(found), optional=("baseline ok runs", "ok runs", "note", "baseline (95%)"))
    for problem in found["problems"]:
        style = "red" if problem["is_blocking"] else "yellow"
        page.print(f"{_told(found, problem)} ({problem['remedy']})", style=style, soft_wrap=True)
    for note in notes(found):
        page.print(note, soft_wrap=True)
    page.print(found["verdict"], style="bold green" if found["passed"] else "bold red", soft_wrap=True)


def notes(found: Found) -> list[str]:
    """What a reader must know: scenarios that fall short by themselves or were left out, and a judge of the family."""
    rows, said = found["scenarios"], []
    short = [row["scenario_id"] for row in rows if _is_short(row)]
    if short and len(rows) > 1:
        said.append(f"Beyond chance short of a bound by themselves: {', '.join(short)}. The mean of all decides.")
    if found["left_out"]:
        said.append(f"Left out, since no model has a score there: {', '.join(found['left_out'])}.")
    if found["judge_family"]:
        said.append(f"{terminal.JUDGE_FAMILY}. Models: {', '.join(found['judge_family'])}.")
    return said


def _is_short(row: Found) -> bool:
    return any(check["certainty"] == "certain" and not check["holds"] for check in row["checks"].values())


def _told(found: Found, problem: Found) -> str:
    is_model = problem["model_id"] == found["model_id"]
    whose = "" if is_model else f", baseline {problem['model_id']}"
    return f"{problem['scenario_id']}{whose}: {problem['text']}"


def _said(found: Found, check: Found) -> str:
    """The check in a sentence with its figures."""
    figures = _figures(check["estimate"], check["least"], level="95% ")
    if check["bound"] == "min_quality":
        side = "at least" if check["is_reached"] else "below"
        claim = f"quality {figures} is {side} {check['least']:g}{_doubt(check)}"
        is_excusable = check["is_reached"]
    else:
        claim = f"{_loss(found, check)}, difference {figures}{_doubt(check)}"
        is_excusable = check["is_reached"] or check["certainty"] == "undecided"
    return f"{claim} (--strict)" if is_excusable and not check["holds"] else claim


def _doubt(check: Found) -> str:
    if check["certainty"] == "no_interval":
        return ", too few runs for an interval"
    is_chance = check["certainty"] == "undecided" and check["bound"] == "min_quality"
    return ", which could be chance" if is_chance else ""


def _loss(found: Found, check: Found) -> str:
    """How the model stands to the baseline, as a verdict."""
    worse = f"{_worse(found)} than {found['baseline_id']}"
    match check["certainty"], check["holds"]:
        case "undecided", True:
            return f"not {worse} beyond chance"
        case "undecided", _:
            return f"perhaps {worse}"
        case "certain", False:
            return f"{worse} beyond chance"
        case _:
            return f"not {worse}" if check["is_reached"] else worse


def _worse(found: Found) -> str:
    return f"more than {found['margin']:g} points worse" if found["margin"] else "worse"


def _figures(estimate: Found | None, least: float | None = None, *, level: str = "") -> str:
    """The estimate with its interval, before that its level: `81.3 (95% 78.0..84.6)`; `-` for none."""
    if estimate is None:
        return "-"
    value = _figure(estimate["value"], least)
    if estimate["interval"] is None:
        return value
    low, high = (_figure(edge, least) for edge in estimate["interval"])
    return f"{value} ({level}{low}..{high})"


def _figure(value: float, least: float | None) -> str:
    """The value with one decimal, or as many as show on which side of `least` it lies."""
    from scoring.gate import TOLERANCE

    digits, edge = 1, None if least is None else least - TOLERANCE
    while edge is not None and digits < FINEST and (round(value, digits) >= edge) != (value >= edge):
        digits += 1
    return f"{round(value, digits) + 0.0:.{digits}f}"  # -0.0 is shown as 0.0


def _table(found: Found) -> Table:
    asked = list(found["bounds"])
    numbers = ["quality (95%)", "ok runs"]
    if found["baseline_id"] is not None:
        numbers += ["baseline (95%)", "baseline ok runs", "difference (95%)"]
    heads = {"min_quality": f"at least {found['min_quality'] or 0:g}?", "baseline": "against baseline"}
    made = terminal.table("scenario", *numbers, *(heads[bound] for bound in asked), "note", numbers=numbers)
    for row in found["scenarios"]:
        made.add_row(row["scenario_id"], *_cells(found, row), _note(found, row))
    if len(found["scenarios"]) > 1:
        made.add_section()
        mean = f"mean of {len(found['scenarios']):,}"
        made.add_row(mean, *_cells(found, found["overall"]), "", style="bold")
    return made


def _cells(found: Found, row: Found) -> list[str]:
    cells = [_figures(row["quality"]), _ok_runs(row["model_runs"])]
    if found["baseline_id"] is not None:
        cells += [_figures(row["baseline"]), _ok_runs(row["baseline_runs"]), _figures(row["difference"])]
    return cells + [_answer(found, row["checks"].get(bound)) for bound in found["bounds"]]


def _ok_runs(runs: Found) -> str:
    return f"{runs['covered'] - runs['failed']}/{runs['covered']}"


def _answer(found: Found, check: Found | None) -> str:
    """On which side of the bound a row is by itself, and how certainly."""
    if check is None:
        return "-"
    yes, no = ("yes", "no") if check["bound"] == "min_quality" else (f"not {_worse(found)}", _worse(found))
    doubt = {"certain": "", "undecided": ", could be chance", "no_interval": ", no interval"}[check["certainty"]]
    return (yes if check["is_reached"] else no) + doubt


def _note(found: Found, row: Found) -> str:
    own, other = (
        [one["kind"] for one in found["problems"] if (one["scenario_id"], one["model_id"]) == (row["scenario_id"], id_)]
        for id_ in (found["model_id"], found["baseline_id"])
    )
    return ", ".join([*own, *(f"baseline {kind}" for kind in other)])
