"""What the judge was paid for, by its own log, against what is committed.

An answer with status 200 is paid for. It is *kept* when the ledger holds its call. A question is **paid twice** when
the ledger holds two answers to it, or when an answer is not in the ledger though nothing that asks or keeps was killed
or down between the moment the question came in and `COMMIT_SECONDS` after the answer left: it could have been
committed, and was not. The others are **in flight at a kill**: whoever asked, or Postgres, was killed before that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.chaos.contents import Stored
from tests.chaos.judge import Served
from tests.chaos.record import Kill

COMMIT_SECONDS = 1.5
"""By then an answer that came is committed, also on a machine that does much else: usually it takes 0.1 s."""

HARMLESS = frozenset({"import", "reference set", "web server"})
"""Targets that neither ask nor keep answers. Where daemon or code server ends, `assay up` stops its run workers too."""

_KEPT = """
select q.prompt, count(*) as answers from assay.judge_calls c join assay.judge_questions q
using (scenario_id, question_id) where c.error_kind is null group by q.prompt
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payments:
    """Answers paid for and kept, questions paid twice, and answers that a kill cut off, at most so many at one kill."""

    paid: int
    kept: int
    twice: tuple[str, ...]
    in_flight: int
    most_at_one_kill: int
    never_kept: int


def payments(stored: Stored, served: Sequence[Served], kills: Sequence[Kill]) -> Payments:
    """The judge's log against the ledger."""
    kept = {row["prompt"]: int(row["answers"]) for row in stored.rows(_KEPT)}
    answered: dict[str, list[Served]] = defaultdict(list)
    for one in served:
        if one.status == 200:
            answered[one.prompt].append(one)
    twice = [f"kept {count} times: {prompt[:80]}" for prompt, count in kept.items() if count > 1]
    at_kill: Counter[float] = Counter()
    for prompt, answers in answered.items():
        lost = len(answers) - kept.get(prompt, 0)
        cut = [kill for one in answers if (kill := _cut_by(one, kills)) is not None]
        at_kill.update(kill.at for kill in cut[: max(lost, 0)])
        if lost > len(cut):
            twice.append(f"{lost} answers not kept, {len(cut)} of them cut off: {prompt[:80]}")
    return Payments(
        paid=sum(map(len, answered.values())),
        kept=sum(kept.values()),
        twice=tuple(twice),
        in_flight=sum(at_kill.values()),
        most_at_one_kill=max(at_kill.values(), default=0),
        never_kept=sum(prompt not in kept for prompt in answered),
    )


def _cut_by(one: Served, kills: Sequence[Kill]) -> Kill | None:
    """The first kill before the answer can be taken for committed."""
    return next((kill for kill in kills if kill.target not in HARMLESS and _cuts(kill, one)), None)


def _cuts(kill: Kill, one: Served) -> bool:
    return one.asked_at <= kill.at + kill.down_seconds and kill.at <= one.answered_at + COMMIT_SECONDS
