"""Answers kept in memory for the length of a command that has no database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from resources.judge_calls import JudgeCall, QuestionKey
from scoring.panel import Vote


@dataclass(frozen=True, slots=True)
class MemoryAnswers:
    """An answer store of one process."""

    calls: list[JudgeCall] = field(default_factory=list)
    _votes: dict[QuestionKey, list[Vote]] = field(default_factory=dict)

    def votes(self, scenario_id: str, question_ids: Iterable[str]) -> dict[str, list[Vote]]:
        """The votes that are known on those of the questions that have one."""
        return {id_: self._votes[(scenario_id, id_)] for id_ in question_ids if (scenario_id, id_) in self._votes}

    def claim(self, scenario_id: str, question_ids: Iterable[str], worker_id: str) -> frozenset[str]:
        """All of them: nobody else is there."""
        del scenario_id, worker_id
        return frozenset(question_ids)

    def renew(self, worker_id: str) -> None:
        """Nothing expires here."""

    def release(self, worker_id: str) -> None:
        """Nothing is held here."""

    def keep(self, calls: Sequence[JudgeCall]) -> None:
        """These calls are listed, and their answers known."""
        self.calls.extend(calls)
        for call in calls:
            if call.answer is not None:
                self._votes.setdefault(call.raised.key, []).append(Vote(ballot=call.ballot, answer=call.answer))
