"""How long many distinct questions take: a server with a fixed latency in a process of its own, a real Postgres.

`python -m benchmarks.judge_speed` prints wall time, CPU time and how memory grew, beside a floor measured in the same
run (the bare `openai` client sending the same requests as fast as it may); it exits 1 where the limit is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import text

from resources.judge import Judge
from resources.judge_answers import StoredAnswers
from resources.judge_calls import Raised
from resources.settings import Endpoint, JudgeSettings
from scoring.questions import SYSTEM_MESSAGE
from scoring.records import Question, QuestionKind
from tests.judge_server import JudgeServer, always

QUESTIONS, LATENCY_SECONDS, AT_ONCE = 1_000, 0.05, 64
MOST_BEYOND_SECONDS, MOST_GROWN_MEBIBYTES = 3.0, 64.0
DOCUMENT = "The lighthouse was built of granite and stood forty metres above the sea. " * 40


def serve() -> None:
    with JudgeServer(always("both_correct", latency_seconds=LATENCY_SECONDS)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


@contextmanager
def served() -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.judge_speed", "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


def questions(count: int, first: int = 0) -> list[Question]:
    made = []
    for number in range(first, first + count):
        body = {"question": "compare", "A": f"tower {number}", "B": f"lighthouse {number}"}
        message = json.dumps(body | {"documents": [{"name": "a.txt", "text": DOCUMENT}]}, sort_keys=True)
        made.append(Question(question_id=f"{number:064x}", kind=QuestionKind.COMPARE, path="/name", message=message))
    return made


async def bare_client(url: str, asked: list[Question], at_once: int) -> None:
    from openai import AsyncOpenAI

    waiting = iter(asked)
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def work() -> None:
            for one in waiting:
                messages: list[Any] = [
                    {"role": "system", "content": SYSTEM_MESSAGE},
                    {"role": "user", "content": one.message},
                ]
                await client.chat.completions.create(model="m", messages=messages, temperature=0)

        await asyncio.gather(*(work() for _ in range(at_once)))


@contextmanager
def store() -> Iterator[StoredAnswers]:
    from resources.database import engine_for
    from resources.home import Home
    from resources.migrate import upgrade
    from resources.postgres import EmbeddedPostgres

    with tempfile.TemporaryDirectory(prefix="assay-judge-speed-") as folder:
        Path(folder).chmod(0o711)
        postgres = EmbeddedPostgres(Home(root=Path(folder)))
        engine = engine_for(postgres.ensure().url_of("assay"))
        try:
            upgrade(engine)
            with engine.begin() as connection:
                connection.execute(text(_SCENARIO))
            yield StoredAnswers(engine)
        finally:
            engine.dispose()
            postgres.stop()


_SCENARIO = """
insert into assay.scenarios (scenario_id, scenario_type, title, entity, prompt, expected_repetitions, config_hash,
                             quality_weight, speed_weight, cost_weight)
values ('s', 'enrichment', '', '', '', 1, '', 40, 30, 30)
"""


def measured(url: str, kept: StoredAnswers, count: int, at_once: int) -> tuple[float, float, float]:
    """Wall and CPU seconds of asking, and the mebibytes by which the process grew in the second half."""
    settings = JudgeSettings(models=(Endpoint(model="m", base_url=url),), at_once=at_once)
    judge, process = Judge(settings, store=kept), psutil.Process()
    judge.answer([Raised(scenario_id="s", question=one) for one in questions(50, first=10**6)])
    at_half = [0]

    def on_answers(done: int, total: int) -> None:
        if done == total // 2:
            at_half[0] = process.memory_info().rss

    raised = [Raised(scenario_id="s", question=one) for one in questions(count)]
    begun, cpu = time.perf_counter(), time.process_time()
    answered = judge.answer(raised, on_answers=on_answers)
    wall, used = time.perf_counter() - begun, time.process_time() - cpu
    assert len(answered.answers) == answered.calls == count
    return wall, used, (process.memory_info().rss - at_half[0]) / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    count = options.questions
    ideal = count * LATENCY_SECONDS / AT_ONCE
    with served() as url, store() as kept:
        begun, cpu = time.perf_counter(), time.process_time()
        asyncio.run(bare_client(url, questions(count), AT_ONCE))
        floor, floor_cpu = time.perf_counter() - begun, time.process_time() - cpu
        wall, used, grown = measured(url, kept, count, AT_ONCE)
    print(f"{count} questions, {AT_ONCE} at once, {LATENCY_SECONDS * 1e3:.0f} ms each: ideal {ideal:.2f} s")
    print(f"bare client  {floor:6.2f} s wall, {floor_cpu:5.2f} s CPU")
    print(
        f"judge        {wall:6.2f} s wall, {used:5.2f} s CPU, {wall / floor:.2f} x bare; grew {grown:.1f} MiB by half"
    )
    is_slow, is_fat = wall - ideal > MOST_BEYOND_SECONDS * count / QUESTIONS, grown > MOST_GROWN_MEBIBYTES
    print(f"{wall - ideal:.2f} s beyond the ideal (limit {MOST_BEYOND_SECONDS * count / QUESTIONS:.1f} s)")
    return int(is_slow or is_fat)


if __name__ == "__main__":
    sys.exit(main())
