"""A real BI tool: `make bi` installs Apache Superset, connects it with a login, and draws the leaderboard."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import main
from pipelines.session import Session, open_session
from tests.superset_server import HOME, ROOT, USER, SupersetServer

pytestmark = pytest.mark.superset

EXAMPLE = ROOT / "examples" / "workspace"
PAGE = (ROOT / "docs" / "bi.md").read_text(encoding="utf-8")
QUESTIONS = dict(re.findall(r"^### (.+?)\n\n```sql\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
OVERALL = {
    "clause": "WHERE",
    "expressionType": "SIMPLE",
    "subject": "scope",
    "operator": "==",
    "comparator": "overall",
}
COLUMNS = ["position", "model_id", "score", "quality", "speed_score", "cost_score", "success_rate"]


def metric(name: str) -> dict[str, Any]:
    return {"expressionType": "SQL", "sqlExpression": f"max({name})", "label": name}


CHARTS: Mapping[str, dict[str, Any]] = {
    "Leaderboard": {
        "viz_type": "echarts_timeseries_bar",
        "x_axis": "model_id",
        "metrics": [metric("score"), metric("quality")],
        "groupby": [],
        "x_axis_sort": "score",
        "x_axis_sort_asc": False,
        "show_value": True,
        "y_axis_format": ".1f",
    },
    "Quality against cost": {
        "viz_type": "bubble_v2",
        "entity": "model_id",
        "x": metric("mean_cost_usd"),
        "y": metric("quality"),
        "size": metric("score"),
        "max_bubble_size": "25",
        "xAxisFormat": ".4f",
        "x_axis_label": "mean cost, USD",
        "y_axis_label": "quality",
    },
    "Why": {"viz_type": "table", "query_mode": "raw", "all_columns": COLUMNS, "order_by_cols": ['["position", true]']},
}


@pytest.fixture
def report() -> Iterator[list[str]]:
    """Lines that are written to the report, also where the test fails."""
    lines: list[str] = []
    yield lines
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / "report.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def session(assay_home: Path) -> Iterator[Session]:  # noqa: ARG001 - for its effect
    """The example workspace, recorded and scored with local embeddings."""
    from pipelines.round import score_round
    from resources.recordings import read_recordings

    with open_session(EXAMPLE) as opened:
        opened.warehouse.import_runs(read_recordings([EXAMPLE / "runs"], opened.workspace))
        cells = [(cell.scenario_id, cell.model_id) for cell in opened.warehouse.cells() if cell.needs_scoring]
        assert not score_round(opened, cells).failed
        yield opened


def test_superset_reads_the_views_and_draws_the_leaderboard(
    session: Session, report: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bi", "login", "superset", "--workspace", str(EXAMPLE), "--json"]) == 0
    login = json.loads(capsys.readouterr().out)
    expected = session.warehouse.leaderboard("overall")
    try:
        with SupersetServer() as superset:
            database = connect(superset, login["url"], report)
            questions(superset, database, report)
            refused(superset, database, report)
            datasets = made_datasets(superset, database, report)
            charts = drawn(superset, datasets["leaderboard"], expected, report)
            seen(superset, dashboard(superset, charts), [row["model_id"] for row in expected], report)
    finally:
        assert main(["bi", "drop", "superset", "--workspace", str(EXAMPLE)]) == 0


def connect(superset: SupersetServer, url: str, report: list[str]) -> int:
    uri = url.replace("postgresql:", "postgresql+psycopg2:", 1)
    body = {"database_name": "assay", "sqlalchemy_uri": uri, "expose_in_sqllab": True}
    test = {"database_name": "assay", "sqlalchemy_uri": uri, "configuration_method": "sqlalchemy_form"}
    said = superset.call("POST", "/api/v1/database/test_connection/", test)
    report.append(f"connected as the login: {said['message']}")
    return int(superset.call("POST", "/api/v1/database/", body)["id"])


def sql_lab(superset: SupersetServer, database: int, sql: str) -> list[dict[str, Any]]:
    body = {"database_id": database, "schema": "bi", "sql": sql, "runAsync": False, "queryLimit": 1000}
    answer = superset.call("POST", "/api/v1/sqllab/execute/", body)
    assert answer["status"] == "success", answer
    return list(answer["data"])


def questions(superset: SupersetServer, database: int, report: list[str]) -> None:
    for question, sql in QUESTIONS.items():
        rows = sql_lab(superset, database, sql)
        assert rows or question in ("What is stale, and why?",), question
        report.append(f"SQL Lab: {question} {len(rows)} rows")


def refused(superset: SupersetServer, database: int, report: list[str]) -> None:
    for sql in ("select * from assay.runs", "create table bi.mine (a int)"):
        with pytest.raises(AssertionError, match=r"permission denied|read-only|not allowed|DML"):
            sql_lab(superset, database, sql)
        report.append(f"SQL Lab refuses: {sql}")


def made_datasets(superset: SupersetServer, database: int, report: list[str]) -> dict[str, int]:
    """A dataset on every view, each with all its columns and, where Superset reads them, their comments."""
    made, described, columns = {}, 0, 0
    for view in json.loads((ROOT / "resources" / "bi_contract.json").read_text()).items():
        name = view[0].removeprefix("bi.")
        body = {"database": database, "schema": "bi", "table_name": name}
        made[name] = int(superset.call("POST", "/api/v1/dataset/", body)["id"])
        found = superset.call("GET", f"/api/v1/dataset/{made[name]}")["result"]["columns"]
        assert {one["column_name"] for one in found} == set(view[1]["columns"])
        described += sum(bool(one.get("description")) for one in found)
        columns += len(found)
    report.append(f"datasets: {len(made)} on the views, {columns} columns, {described} with their comment")
    return made


def drawn(
    superset: SupersetServer, dataset: int, expected: Sequence[Mapping[str, Any]], report: list[str]
) -> dict[str, int]:
    """The charts, saved; the data that Superset draws is that of the ranking."""
    query = {
        "columns": ["model_id"],
        "metrics": [metric("score")],
        "orderby": [["score", False]],
        "filters": [{"col": "scope", "op": "==", "val": "overall"}],
        "row_limit": 100,
    }
    body = {"datasource": {"id": dataset, "type": "table"}, "force": True, "queries": [query], "result_type": "full"}
    (result,) = superset.call("POST", "/api/v1/chart/data", {**body, "result_format": "json"})["result"]
    assert [one["model_id"] for one in result["data"]] == [row["model_id"] for row in expected]
    assert [one["score"] for one in result["data"]] == pytest.approx([row["score"] for row in expected])
    report.append("chart data: " + ", ".join(f"{one['model_id']} {one['score']:.1f}" for one in result["data"]))
    charts = {}
    for name, settings in CHARTS.items():
        given = {**settings, "adhoc_filters": [OVERALL], "row_limit": 100, "datasource": f"{dataset}__table"}
        chart = {"slice_name": name, "viz_type": settings["viz_type"], "datasource_id": dataset}
        chart |= {"datasource_type": "table", "params": json.dumps(given)}
        charts[name] = int(superset.call("POST", "/api/v1/chart/", chart)["id"])
    return charts


def dashboard(superset: SupersetServer, charts: Mapping[str, int]) -> int:
    grid: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": ["ROW-1", "ROW-2"], "parents": ["ROOT_ID"]},
    }
    places = {"Leaderboard": ("ROW-1", 6), "Quality against cost": ("ROW-1", 6), "Why": ("ROW-2", 12)}
    for name, id_ in charts.items():
        row, width = places[name]
        meta = {"background": "BACKGROUND_TRANSPARENT"}
        parents = ["ROOT_ID", "GRID_ID"]
        place = grid.setdefault(row, {"type": "ROW", "id": row, "children": [], "parents": parents, "meta": meta})
        place["children"].append(f"CHART-{id_}")
        meta = {"chartId": id_, "width": width, "height": 50, "sliceName": name}
        grid[f"CHART-{id_}"] = {
            "type": "CHART",
            "id": f"CHART-{id_}",
            "children": [],
            "parents": [*parents, row],
            "meta": meta,
        }
    body = {"dashboard_title": "Assay", "published": True, "position_json": json.dumps(grid)}
    made = int(superset.call("POST", "/api/v1/dashboard/", body)["id"])
    for id_ in charts.values():
        superset.call("PUT", f"/api/v1/chart/{id_}", {"dashboards": [made]})
    return made


def seen(superset: SupersetServer, dashboard_id: int, models: Sequence[str], report: list[str]) -> None:
    """The dashboard in a real browser: both charts drew something, the table names every model, nothing failed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-background-networking"]
        )
        page = browser.new_page(viewport={"width": 1500, "height": 1500})
        page.set_default_timeout(600_000)  # its code is large, and a busy machine takes minutes over it
        try:
            page.goto(f"{superset.url}/login/")
            page.fill("input#username", USER)
            page.fill("input#password", superset.password)
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url: "/login" not in url)
            page.goto(f"{superset.url}/superset/dashboard/{dashboard_id}/?standalone=1")
            page.wait_for_function("document.querySelectorAll('canvas').length >= 2")
            for model in models:
                page.get_by_text(model, exact=True).first.wait_for(state="attached")
            page.wait_for_timeout(3000)  # the bars grow
            drawn = page.evaluate(_INK)
            failures = page.locator("text=/unexpected error|data error/i").count()
        finally:
            page.screenshot(path=str(HOME / "dashboard.png"), full_page=True)
            browser.close()
    assert failures == 0
    assert len(drawn) >= 2
    assert min(drawn) > 1000
    report.append(f"dashboard drawn in a browser: {len(drawn)} charts of {', '.join(map(str, drawn))} painted points")
    report.append(f"picture: {(HOME / 'dashboard.png').relative_to(ROOT)}")


_INK = """() => [...document.querySelectorAll('canvas')].map(canvas => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data
  let ink = 0
  for (let at = 3; at < data.length; at += 4) if (data[at] > 0) ink += 1
  return ink
})"""
