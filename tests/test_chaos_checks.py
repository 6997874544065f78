"""The checker of `make chaos` finds what it is there to find: each damage, done to a sound store, is named."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from pipelines.session import Session, open_session
from resources.recordings import read_recordings
from tests.chaos import checks
from tests.chaos.content import MOVING, REPETITIONS, STILL, OwnerEdit, add_scenario, judged, runs_file
from tests.chaos.content import scenario_id as named
from tests.chaos.content import write_workspace as write
from tests.chaos.contents import Stored
from tests.chaos.judge import Served
from tests.chaos.payments import COMMIT_SECONDS, payments
from tests.chaos.record import Kill
from tests.chaos.undisturbed import _played
from tests.judge_server import JudgeServer

SCENARIOS = [named(STILL, 1), named(MOVING, 1)]
EDITS = [(SCENARIOS[0], OwnerEdit(path="/n0", value=200))]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, postgres_server: Any) -> Iterator[Session]:
    """A sound store: two scenarios scored, edited and merged."""
    folder = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch, JudgeServer(judged) as server:
        name = f"chaos_checks_{uuid.uuid4().hex[:12]}"  # workers of the tests share one server
        url = postgres_server.url_of(name)
        named_ = {"host": url.host, "port": url.port, "user": url.username, "password": url.password}
        admin = psycopg2.connect(**named_, dbname="postgres")
        admin.autocommit = True
        admin.cursor().execute(f"create database {name} template assay_template")
        admin.close()
        patch.setenv("ASSAY_HOME", str(folder / "home"))
        patch.setenv("ASSAY_DATABASE_URL", url.render_as_string(hide_password=False))
        workspace = write(folder / "ws", server.base_url)
        for scenario in SCENARIOS:
            add_scenario(workspace, scenario)
        files = [str(runs_file(workspace, one, number)) for one in SCENARIOS for number in range(1, REPETITIONS + 1)]
        with open_session(workspace) as session:
            session.warehouse.import_runs(read_recordings(files, session.workspace, None, None))
            for scenario in SCENARIOS:
                _played(session, scenario, STILL)
            yield session


@pytest.fixture
def stored(session: Session) -> Iterator[Stored]:
    """What the checker reads, within a transaction that is rolled back after the test."""
    url = session.warehouse.engine.url
    connection = psycopg2.connect(
        host=url.host, port=url.port, user=url.username, password=url.password, dbname=url.database
    )
    found = Stored(connection, session.warehouse.lake.root)
    connection.autocommit = False
    yield found
    connection.rollback()
    connection.close()


def found_in(stored: Stored, seen: set[tuple[str, str]] | None = None) -> str:
    found = [
        *checks.lost(stored, seen or set(), SCENARIOS, EDITS),
        *checks.half(stored),
        *checks.doubled(stored, rescored_kind="none"),
    ]
    return "\n".join(found)


def test_a_sound_store_has_no_problem(stored: Stored) -> None:
    assert found_in(stored) == ""


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("delete from assay.field_scores where field_position = 3", "lacks fields of run"),
        ("delete from assay.list_scores", "lacks fields of run"),
        ("update assay.model_scores set scored_run_count = 3", "has 2 runs"),
        ("update assay.model_scores set findings_file = null where findings_file is not null", "holds 0 rows of"),
        ("update assay.scoring_records set ended_at = null", "0 scoring records that ended|scoring records that ended"),
        ("update assay.reference_versions set number = number + 7 where number > 1", "does not follow the one before"),
        ('update assay.reference_versions set content_json = \'{"n0": 1, "n1": 1}\'', "and its lake file differ"),
        ("delete from assay.reference_edit_models; delete from assay.reference_edits", "is not the version before"),
        (
            "insert into assay.model_scores overriding system value"
            " select (jsonb_populate_record(s, jsonb_build_object('model_score_id', 900000 + model_score_id))).*"
            " from assay.model_scores s limit 1",
            "is scored 2 times in one state",
        ),
        ("update assay.reference_versions set owner_json = replace(owner_json, '200', '0')", "acknowledged, is gone"),
    ],
)
def test_each_damage_is_named(stored: Stored, damage: str, told: str) -> None:
    with stored.connection.cursor() as cursor:
        cursor.execute(damage)
    found = found_in(stored)
    assert any(words in found for words in told.split("|")), found


def test_what_was_seen_and_is_gone_is_lost(stored: Stored) -> None:
    assert "judge_answers" in found_in(stored, {("judge_answers", "tables:q1:correct:100")})


def test_a_named_file_that_is_gone_is_missing(session: Session, stored: Stored) -> None:
    name = stored.values("select lake_file from assay.reference_versions order by 1 limit 1")[0]
    file = Path(session.warehouse.lake.root, name)
    aside = file.rename(file.with_suffix(".aside"))
    try:
        assert any("is named and missing" in one for one in checks._missing_files(stored))
    finally:
        aside.rename(file)


def served(at: float, prompt: str = "q") -> Served:
    return Served(prompt=prompt, asked_at=at, answered_at=at + 1, status=200)


class Ledger(Stored):
    """What the ledger holds, said instead of stored."""

    def __init__(self, kept: dict[str, int]) -> None:
        self.kept = kept

    def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        del query, parameters
        return [{"prompt": prompt, "answers": count} for prompt, count in self.kept.items()]


@pytest.mark.parametrize(
    ("kept", "asked_at", "kills", "twice", "in_flight"),
    [
        (1, [10], [], 0, 0),
        (2, [10, 20], [11], 1, 0),
        (1, [10, 20], [], 1, 0),
        (1, [10, 20], [10.5], 0, 1),
        (1, [10, 20], [11 + COMMIT_SECONDS + 0.1], 1, 0),
        (1, [10, 20, 30], [10.5], 1, 1),
        (0, [10], [10.5], 0, 1),
    ],
)
def test_an_answer_is_paid_twice_unless_a_kill_cut_it_off(
    kept: int, asked_at: list[float], kills: list[float], twice: int, in_flight: int
) -> None:
    given = [Kill(target="score", at=at) for at in kills]
    found = payments(Ledger({"q": kept} if kept else {}), [served(at) for at in asked_at], given)
    assert (len(found.twice), found.in_flight) == (twice, in_flight)


def test_a_kill_of_what_neither_asks_nor_keeps_excuses_nothing() -> None:
    found = payments(Ledger({"q": 1}), [served(10), served(20)], [Kill(target="import", at=10.5)])
    assert len(found.twice) == 1
