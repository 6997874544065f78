"""Contested values: clearly different from the reference, but with something behind them (SPEC 3, rung 7).

A value is contested when

- a source document contains it: its normal form stands there as a phrase of whole words, and it has at least three
  letters or digits, so that a stray `a` or `12` proves nothing. Booleans and enum values are never looked up, since
  words like `true` or `other` stand in every text; nor is a text of more than 200 characters; or
- most of the other models gave it: at least two other outputs say something at this place, and more than half of
  those say this value, equal by the free rungs. In a list an output says it in the item that its list pairs with the
  reference's, as any candidate's list is paired, but without vectors and without the judge; lists of more than 250,000
  possible pairs are left out. Each other model is one voice, its first recorded run that can be read, whichever models
  a round scores.

Only with a judge does it matter, and then the value is asked about instead of being a mismatch.
"""

from __future__ import annotations

import re
from functools import lru_cache

from scoring.counterparts import is_same_value
from scoring.other_outputs import said_at
from scoring.records import Document, Json, Kind
from scoring.spots import Spot
from scoring.task import Task
from scoring.text import normal_form
from scoring.values import text_of

LEAST_CHARACTERS = 3
LONGEST_TEXT = 200
LEAST_OTHERS = 2

_WORDLIKE = re.compile(r"\w")


def contested_by(task: Task, spot: Spot, candidate: Json) -> str:
    """What stands behind the candidate's value, in words; empty where nothing does."""
    if spot.node.kind is Kind.BOOLEAN:
        return ""
    if spot.node.kind is not Kind.ENUM:
        name = _document_with(task.context.documents, candidate)
        if name is not None:
            return f"document {name} contains it"
    return _majority(task, spot, candidate)


def _document_with(documents: tuple[Document, ...], candidate: Json) -> str | None:
    text = text_of(candidate)
    form = normal_form(text) if text is not None else ""
    if len(form) > LONGEST_TEXT or len(_WORDLIKE.findall(form)) < LEAST_CHARACTERS:
        return None
    phrase = re.compile(rf"(?<!\w){re.escape(form)}(?!\w)")
    return next((document.name for document in documents if phrase.search(_form_of_document(document.text))), None)


@lru_cache(64)
def _form_of_document(text: str) -> str:
    return normal_form(text)


def _majority(task: Task, spot: Spot, candidate: Json) -> str:
    said = [value for output in task.context.other_outputs if (value := said_at(task, spot, output)) is not None]
    if len(said) < LEAST_OTHERS:
        return ""
    agreeing = sum(is_same_value(spot, value, candidate) for value in said)
    return f"{agreeing} of {len(said)} other outputs say so" if agreeing * 2 > len(said) else ""
