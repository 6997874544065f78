"""The tracked changes of a reference as one HTML page that stands alone: no script, nothing fetched, all escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from scoring.records import Json
from scoring.tracked_changes import Line, TrackedEdit

LONGEST_VALUE = 4_000
_UNSHOWABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1c1e21, #e6e7ea); --page: light-dark(#fff, #16181c);
  --soft: light-dark(#5b6068, #a2a8b2); --line: light-dark(#dfe2e6, #33373e); --panel: light-dark(#f5f6f8, #1f2228);
  --old: light-dark(#a3201a, #ff9d95); --old-page: light-dark(#fdeceb, #3b1f1e);
  --new: light-dark(#13652f, #8fdda6); --new-page: light-dark(#e5f5ea, #17321f); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 70rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); }
label { display: inline-flex; gap: .5rem; align-items: center; min-height: 1.75rem; margin: .5rem 0; }
input { width: 1.25rem; height: 1.25rem; }
.document { border: 1px solid var(--line); border-radius: .5rem; padding: .25rem 0; }
.row { padding: .15rem .75rem .15rem calc(.75rem + min(var(--depth) * 1.25rem, 30vw)); }
.row.edited { background: var(--panel); border-left: .25rem solid var(--new); }
.key { color: var(--soft); margin-right: .5rem; }
del { color: var(--old); background: var(--old-page); padding: 0 .25rem; border-radius: .2rem; }
ins { color: var(--new); background: var(--new-page); padding: 0 .25rem; border-radius: .2rem; }
.value { white-space: pre-wrap; }
.why { display: block; color: var(--soft); font-size: .875rem; }
body:has(#only:checked) .row:not(.edited) { display: none; }
.tables { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; color: var(--soft); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
td { min-width: 5rem; } td.number { min-width: 0; }
@media (max-width: 40rem) { thead { display: none; } tr, td { display: block; border: 0; padding: .1rem 0; }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td::before { content: attr(data-label) ": "; color: var(--soft); } }
@media print { label { display: none; } }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """What the page says of the version it shows. `filters` are the filters in words, empty where all is shown."""

    scenario_id: str
    title: str
    number: int
    author: str
    made_at: str
    is_verified: bool
    filters: str = ""


def reference_page(head: PageHead, lines: Sequence[Line], edits: Sequence[TrackedEdit]) -> str:
    """The whole page. `edits` are listed below the document: those in place, rejected ones and earlier ones."""
    in_place = [edit for edit in edits if edit.is_in_place]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{_text(head.title)}: tracked changes</title><style>{STYLE}</style></head><body>",
        *_header(head, len(in_place)),
        '<div class="document" role="group" aria-label="The reference with its changes">',
        *(_row(line) for line in lines),
        "</div>",
        *_log(edits),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _header(head: PageHead, count: int) -> Iterator[str]:
    state = "verified" if head.is_verified else "draft, not scored against"
    yield f"<header><h1>{_text(head.title)}</h1>"
    yield f"<p>{_text(head.scenario_id)}, version {head.number} ({state})"
    yield f'<span class="soft">by {_text(head.author)}, {_text(head.made_at)}</span></p>'
    changes = "1 automatic change" if count == 1 else f"{count:,} automatic changes"
    yield f"<p>{changes} in place; what stood there before is struck through. All count unless rejected.</p>"
    if head.filters:
        yield f'<p class="soft">Shown: {_text(head.filters)}</p>'
    yield '<label><input type="checkbox" id="only"> Only what changed</label></header>'


def _row(line: Line) -> str:
    edited = " edited" if line.edit is not None else ""
    value = "" if line.is_container else _value(line)
    old = ""
    if line.is_first and line.edit is not None and line.edit.before is not None:
        old = f'<del class="value">{_shown(line.edit.before)}</del> '
    why = f'<span class="why">{why_text(line.edit)}</span>' if line.is_first and line.edit is not None else ""
    label = f'<span class="key">{_text(line.label)}</span>' if line.label else ""
    return f'<div class="row{edited}" style="--depth:{line.depth}">{label}{old}{value}{why}</div>'


def _value(line: Line) -> str:
    tag = "ins" if line.edit is not None else "span"
    return f'<{tag} class="value">{_shown(line.text)}</{tag}>'


def why_text(edit: TrackedEdit) -> str:
    """Who is behind an edit and why, as escaped HTML."""
    who = ", ".join(edit.models)
    count = "1 model" if edit.model_count == 1 else f"{edit.model_count} models"
    parts = [f"{count} ({who})" if who else edit.author, edit.evidence.replace("_", " "), f"version {edit.number}"]
    return _text(" · ".join(part for part in [*parts, edit.reason] if part))


def _log(edits: Sequence[TrackedEdit]) -> Iterator[str]:
    yield "<h2>Log</h2>"
    if not edits:
        yield "<p>No change has been made yet.</p>"
        return
    yield '<div class="tables"><table><caption>Every change, the newest first</caption>'
    yield "<thead><tr>" + "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS) + "</tr></thead><tbody>"
    for edit in edits:
        cells = (
            str(edit.edit_id),
            _text(edit.path),
            _struck(edit.before),
            _added(edit.after),
            why_text(edit),
            _state(edit),
        )
        labelled = zip(_COLUMNS, cells, strict=True)
        yield "<tr>" + "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in labelled) + "</tr>"
    yield "</tbody></table></div>"


_COLUMNS = ("edit", "path", "before", "after", "why", "state")


def _state(edit: TrackedEdit) -> str:
    if edit.is_rejected:
        return "rejected"
    return "in place" if edit.is_in_place else "past"


def _struck(value: Json) -> str:
    return f"<del>{_shown(value)}</del>" if value is not None else '<span class="soft">nothing</span>'


def _added(value: Json) -> str:
    return f"<ins>{_shown(value)}</ins>" if value is not None else '<span class="soft">nothing</span>'


def _shown(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _text(text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…")


def _text(text: str) -> str:
    """The text escaped, what no page can show replaced."""
    return escape(_UNSHOWABLE.sub("\N{REPLACEMENT CHARACTER}", text))
