from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from resources import run_locks
from resources.run_locks import holding_run, living

ROOT = Path(__file__).parents[2]
HOLDER = """
import sys, time
from resources.database import engine_for, parsed_url
from resources.run_locks import holding_run
with holding_run(engine_for(parsed_url(sys.argv[1])), "a-run"):
    print("held", flush=True)
    time.sleep(600)
"""


def until(is_true: Callable[[], bool]) -> bool:
    """Whether it becomes true before anybody would lose patience."""
    end = time.monotonic() + 120
    while not (found := is_true()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def test_a_run_lives_inside_and_not_after(engine: Engine) -> None:
    with holding_run(engine, "one"), holding_run(engine, "two"):
        assert living(engine, ["one", "two", "three"]) == {"one", "two"}
    assert living(engine, ["one", "two"]) == set()
    assert living(engine, []) == set()


def test_a_second_process_of_the_same_run_does_not_wait(engine: Engine) -> None:
    with holding_run(engine, "one"):
        with holding_run(engine, "one"):
            pass
        assert living(engine, ["one"]) == {"one"}


def test_a_killed_process_lets_go_by_itself(engine: Engine) -> None:
    url = engine.url.render_as_string(hide_password=False)
    with subprocess.Popen([sys.executable, "-c", HOLDER, url], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert living(engine, ["a-run"]) == {"a-run"}
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert until(lambda: living(engine, ["a-run"]) == set())


def test_a_lock_whose_connection_broke_is_taken_anew(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_locks, "BEAT_SECONDS", 0.3)
    with holding_run(engine, "one"):
        with engine.begin() as connection:
            ended = connection.execute(
                text("""
                    select pg_terminate_backend(pid) from pg_locks
                    where locktype = 'advisory' and pid <> pg_backend_pid()
                      and database = (select oid from pg_database where datname = current_database())
                """)
            ).all()
        assert ended == [(True,)]
        assert until(lambda: living(engine, ["one"]) == {"one"})


def test_another_databases_locks_say_nothing(engine: Engine, make_database: Callable[..., object]) -> None:
    from resources.database import engine_for

    other = engine_for(make_database())  # type: ignore[arg-type]
    with holding_run(other, "one"):
        assert living(engine, ["one"]) == set()
    other.dispose()
