"""How long Dagster's asset page of `model_scores` takes with 10,000 partitions, in a real browser.

`python -m benchmarks.pages` makes a home whose Dagster knows 100 scenarios x 100 models, a seventh of them without a
score, with the events that imports, rounds and merges would leave, written through Dagster's own instance. It then
starts Dagster's web server on it and opens the asset's page and its tab of partitions in headless Chromium: cold, with
server and browser just started, and warm, several times more. The page has loaded when the newest materialisation is
painted, the tab when the count of materialised partitions is. Both are opened from another page of the open UI, by
its link, and each in a new tab, where Dagster's application itself has to start first: the page of `leaderboard`, which
has no partitions, tells what that alone takes. Seconds on the clock count here, since that is what a person waits; the
seconds of processors beside them tell a busy machine from a slow page. Exits 1 where the limit is missed in the open
UI, cold or warm, or where 10,000 partitions make a new tab that much slower than no partitions.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import dagster as dg
import psutil
from playwright.sync_api import BrowserContext, sync_playwright

from assets.inputs import reference, runs, scenario_config
from assets.references import MERGED_REFERENCE
from assets.scores import CODE_VERSION, MODEL_SCORES, REFERENCE_FINDINGS
from benchmarks.synthetic import Size, model_ids, scenario_ids, write_workspace
from pipelines.instance import child_environment, open_instance
from pipelines.partitions import add_partitions, cell_key
from pipelines.reporting import Event, report_events
from resources.home import Home
from resources.lease import using_postgres
from scoring.keys import safe_key

MOST_SECONDS = 3.0
WARM_LOADS = 5
OTHER_PAGE = re.compile("Quality, speed and cost mixed")
"""A sentence of the page of `leaderboard`."""
START_SECONDS = 600
PATIENCE_MILLISECONDS = 300_000
LEFT_OUT = 7
"""Every so manieth cell has no score."""
VERSION_TAG = "dagster/data_version"

_PARTITIONS = """
query PartitionsOf($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
  partitionStats { numMaterialized numPartitions }
  partitionKeysByDimension { name partitionKeys }
  assetPartitionStatuses { __typename ... on MultiPartitionStatuses {
    primaryDimensionName ranges { primaryDimStartKey primaryDimEndKey
      secondaryDim { ... on DefaultPartitionStatuses { materializedPartitions } } } } } } } }
"""
_LOCATIONS = "{ workspaceOrError { ... on Workspace { locationEntries { loadStatus } } } }"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """What one page took: on the clock, and of processors in server, Postgres and browser together."""

    wall: float
    processors: float


def fill(instance: dg.DagsterInstance, size: Size) -> list[tuple[str, str]]:
    """The cells whose `model_scores` are materialised, the newest last; Dagster knows all cells and their inputs."""
    scenarios, models = scenario_ids(size.scenarios), model_ids(size.models)
    add_partitions(instance, [(one, models[0]) for one in scenarios] + [(scenarios[0], one) for one in models])
    for key in (scenario_config.key, reference.key):
        report_events(instance, [dg.AssetObservation(key, partition=one, tags={VERSION_TAG: one}) for one in scenarios])
    cells = [(scenario, model) for scenario in scenarios for model in models]
    report_events(instance, _materialised(runs.key, cells, {}))
    scored = [cell for number, cell in enumerate(cells) if number % LEFT_OUT]
    tags = {"dagster/code_version": CODE_VERSION} | {
        f"dagster/input_data_version/{name}": "0" * 64 for name in ("reference", "scenario_config", "runs")
    }
    for key in (MODEL_SCORES, REFERENCE_FINDINGS):
        report_events(instance, _materialised(key, scored, tags))
    merged = (dg.AssetMaterialization(MERGED_REFERENCE, partition=safe_key(one)) for one in scenarios)
    report_events(instance, merged)
    return scored


def _materialised(key: dg.AssetKey, cells: list[tuple[str, str]], tags: dict[str, str]) -> Iterator[Event]:
    for cell in cells:
        yield dg.AssetMaterialization(
            key, partition=cell_key(cell), tags={**tags, VERSION_TAG: "|".join(cell)}, metadata={"quality": 87.5}
        )


@contextmanager
def serving(home: Home, workspace: Path) -> Iterator[tuple[str, psutil.Process]]:
    """The address of Dagster's web server on this home, its code loaded, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "dagster_webserver", "-h", "127.0.0.1", "-p", str(port)]
    with (home.logs / "web.log").open("ab") as log:
        child = subprocess.Popen(
            [*command, "-m", "pipelines.definitions"],
            env=child_environment(home, workspace),
            cwd=Path(__file__).parents[1],
            stdout=log,
            stderr=log,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_until_loaded(address, child)
            yield address, psutil.Process(child.pid)
        finally:
            _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """The server and the code server that it started are gone."""
    family = psutil.Process(child.pid).children(recursive=True) if child.poll() is None else []
    child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(timeout=60)
    child.kill()
    child.wait()
    for one in family:
        with suppress(psutil.NoSuchProcess):
            one.kill()


def _wait_until_loaded(address: str, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and child.poll() is None:
        try:
            entries = asked(address, _LOCATIONS)["workspaceOrError"]["locationEntries"]
        except (URLError, ConnectionError):
            entries = []
        if entries and all(one["loadStatus"] == "LOADED" for one in entries):
            return
        time.sleep(0.5)
    raise SystemExit("Dagster's web server did not come up; its log is in the home")


def asked(address: str, query: str, variables: Any = None) -> Any:
    """The data of the answer to a GraphQL query."""
    request = Request(  # noqa: S310 - our own address, http on loopback
        f"{address}/graphql",
        data=json.dumps({"query": query, "variables": variables}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=120) as answer:  # noqa: S310 - our own address, http on loopback
        content = json.load(answer)
    if content.get("errors"):
        raise SystemExit(f"GraphQL: {content['errors'][0]['message']}")
    return content["data"]


def opened(browser: BrowserContext, page_address: str, sought: re.Pattern[str], picture: Path | None = None) -> float:
    """Seconds until the page shows this text."""
    page = browser.new_page()
    begun = time.perf_counter()
    page.goto(page_address, wait_until="commit")
    try:
        page.get_by_text(sought).first.wait_for(state="visible", timeout=PATIENCE_MILLISECONDS)
        return time.perf_counter() - begun
    finally:
        if picture is not None:
            page.screenshot(path=picture)
        page.close()


def followed(browser: BrowserContext, address: str, sought: re.Pattern[str]) -> float:
    """Seconds from a click on the link in another asset's page until the page of `model_scores` shows this text."""
    page = browser.new_page()
    try:
        page.goto(f"{address}/assets/leaderboard", wait_until="commit")
        page.get_by_text(OTHER_PAGE).first.wait_for(state="visible", timeout=PATIENCE_MILLISECONDS)
        link = page.locator('a[href*="/assets/model_scores"]').first
        link.wait_for(state="visible", timeout=PATIENCE_MILLISECONDS)
        begun = time.perf_counter()
        link.click()
        page.get_by_text(sought).first.wait_for(state="visible", timeout=PATIENCE_MILLISECONDS)
        return time.perf_counter() - begun
    finally:
        page.close()


def _processor_seconds(processes: list[psutil.Process]) -> float:
    total = 0.0
    for process in processes:
        for one in (process, *process.children(recursive=True)):
            try:
                spent = one.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += spent.user + spent.system + spent.children_user + spent.children_system
    return total


def measure(home: Home, workspace: Path, size: Size, pictures: Path | None) -> dict[str, list[Seconds]]:
    """The loads of each page, the cold one first."""
    with open_instance(home) as instance:
        begun = time.process_time()
        scored = fill(instance, size)
    spent = time.process_time() - begun
    print(f"{size.partitions} partitions, {len(scored)} with a score, filled in {spent:.0f} s", flush=True)
    count = f"{len(scored):,}".replace(",", ",?")  # with or without the comma
    sought = {
        "": re.compile(re.escape(str(cell_key(scored[-1])))),
        "?view=partitions": re.compile(rf"Materialized \({count}\)"),
    }
    postmaster = psutil.Process(int((home.postgres / "data" / "postmaster.pid").read_text().split()[0]))
    with serving(home, workspace) as (address, server), _browser() as browser:
        everyone = [postmaster, server, *(one for one in psutil.Process().children() if one.pid != server.pid)]
        found: dict[str, list[Seconds]] = {}
        for number in range(1 + WARM_LOADS):
            for view, text in sought.items():
                name = f"tab{view}" if view else "page"
                picture = pictures / f"{name[:4]}-{number}.png" if pictures and number < 2 else None
                load = partial(opened, browser, f"{address}/assets/model_scores{view}", text, picture)
                found.setdefault(name, []).append(_timed(load, everyone))
            load = partial(opened, browser, f"{address}/assets/leaderboard", OTHER_PAGE)
            found.setdefault("leaderboard", []).append(_timed(load, everyone))
            found.setdefault("open UI", []).append(_timed(partial(followed, browser, address, sought[""]), everyone))
            found.setdefault("graphql", []).append(_timed(partial(_ask_partitions, address, len(scored)), everyone))
    return found


@contextmanager
def _browser() -> Iterator[BrowserContext]:
    """A browser that keeps what it has loaded, as a person's does."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=_chromium(), args=arguments)
        yield browser.new_context(viewport={"width": 1600, "height": 1000})
        browser.close()


def _chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def _timed(load: Callable[[], float], everyone: list[psutil.Process]) -> Seconds:
    before = _processor_seconds(everyone)
    return Seconds(wall=load(), processors=_processor_seconds(everyone) - before)


def _ask_partitions(address: str, expected: int) -> float:
    begun = time.perf_counter()
    data = asked(address, _PARTITIONS, {"key": {"path": ["model_scores"]}})["assetNodeOrError"]
    if data["partitionStats"]["numMaterialized"] != expected:
        raise SystemExit("Dagster counts other partitions than were written")
    return time.perf_counter() - begun


def main() -> int:
    """Prints the figures; 0 where all limits hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--scenarios", type=int, default=100)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--pictures", type=Path, help="keep screenshots there")
    given = parser.parse_args()
    if _chromium() is None:
        print("pages: no chromium here, nothing measured")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("pages: told to stop"))
    for name in ("ASSAY_DATABASE_URL", "ASSAY_LAKE", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    with TemporaryDirectory(prefix="assay-pages-") as folder:
        Path(folder).chmod(0o755)
        size = Size(scenarios=given.scenarios, models=given.models, repetitions=0)
        workspace = Path(folder) / "workspace"
        write_workspace(workspace, size)
        home = Home(root=Path(folder) / "home").make()
        with using_postgres(home):
            found = measure(home, workspace, size, given.pictures)
    return report(found)


def report(found: dict[str, list[Seconds]]) -> int:
    """Prints a line a page; 1 where one took too long."""
    for name, loads in found.items():
        cold, warm = loads[0], [one.wall for one in loads[1:]]
        spent = median(one.processors for one in loads[1:])
        print(
            f"  {name:<19} cold {cold.wall:.2f} s ({cold.processors:.1f} s of processors), "
            f"warm {median(warm):.2f} s ({min(warm):.2f} to {max(warm):.2f}; {spent:.1f} s of processors)"
        )
    cold, warm = found["open UI"][0].wall, median(one.wall for one in found["open UI"][1:])
    more = {name: median(one.wall for one in found[name][1:]) for name in ("page", "leaderboard")}
    missed = [f"{name} {seconds:.1f} s" for name, seconds in (("cold", cold), ("warm", warm)) if seconds > MOST_SECONDS]
    if more["page"] - more["leaderboard"] > MOST_SECONDS:
        missed.append("a new tab")
    print(
        f"pages: model_scores in the open UI cold {cold:.2f} s, warm {warm:.2f} s; in a new tab {more['page']:.2f} s, "
        f"of which a page without partitions takes {more['leaderboard']:.2f} s; missed: {', '.join(missed) or 'none'}"
    )
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
