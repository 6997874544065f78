"""How commands speak: tables and progress bars for people on a terminal, JSON and plain text for programs."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPED_WIDTH = 1000  # wide enough that nothing wraps: a program reads lines
USAGE_ERROR = "usage_error"
JUDGE_FAMILY = (
    "judge family: a judge of the model's own family, which it may prefer. Measure that with: assay judge audit"
)
EXACT_ONLY = "exact_only: no embedding model, so a different spelling counts as a difference."


class OnProgress(Protocol):
    """What long work calls to say how far it is."""

    def __call__(self, done: int, total: int, what: str = "", /) -> None:
        """`done` of `total` steps are behind us; `what` names the present one."""


def print_json(value: object) -> None:
    """Write `value` to standard output as strict ASCII-safe JSON on lines of its own."""
    from scoring.reading import dumps

    sys.stdout.write(dumps(_plain(value)) + "\n")


def _plain(value: Any) -> Any:
    """The value with times as ISO 8601 texts, so that all of it is JSON."""
    match value:
        case dict():
            return {key: _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case date():
            return value.isoformat()
        case _:
            return value


def write_anything() -> None:
    """Let both streams write characters that their encoding lacks, as escapes, in place of failing at one."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Trimmed:
    """A stream without the spaces that tables pad their lines with."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(re.sub(r"[ ]+$", "", text, flags=re.MULTILINE))

    def flush(self) -> None:
        self._stream.flush()


def screen(*, is_error: bool = False) -> Console:
    """The terminal, or a plain wide page where the output is piped or `NO_COLOR` is set."""
    from rich.console import Console

    stream = sys.stderr if is_error else sys.stdout
    width = None if stream.isatty() else PIPED_WIDTH
    file = stream if stream.isatty() else cast(IO[str], _Trimmed(stream))
    return Console(file=file, width=width, highlight=False, soft_wrap=False, emoji=False, markup=False)


def table(*columns: str, title: str = "", numbers: Sequence[str] = ()) -> Table:
    """An empty table with these columns; those in `numbers` are set flush right."""
    from rich import box
    from rich.table import Table

    made = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    made.padding = (0, 1, 0, 0)
    for column in columns:
        is_number = column in numbers
        made.add_column(column, justify="right" if is_number else "left", overflow="fold", no_wrap=is_number)
    return made


def print_table(page: Console, made: Table, *, optional: Sequence[str] = ()) -> None:
    """Print the table, without as many of the `optional` columns (first ones first) as the page is too narrow for."""
    for header in optional:
        if page.measure(made, options=page.options.update(width=PIPED_WIDTH)).maximum <= page.width:
            break
        made.columns = [column for column in made.columns if column.header != header]
    page.print(made)


def score_style(score: float) -> str:
    """The colour of a score of 0..100, in which more is better."""
    return "green" if score >= 90 else "yellow" if score >= 60 else "red"


def number(value: float | None, digits: int = 1) -> str:
    """The number with that many decimals, or `-` where it is unknown."""
    return "-" if value is None else f"{value:.{digits}f}"


def counted(count: int, noun: str) -> str:
    """The count with its noun: `1 run`, `2 runs`, `1,000 runs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def dollars(value: float | None) -> str:
    """An amount in USD with three significant digits, `free` for nothing, `-` where it is unknown."""
    if value is None:
        return "-"
    if value == 0:
        return "free"
    return f"${value:.2f}" if value >= 1 else f"${value:.3g}"


def seconds(value: float | None) -> str:
    """A duration in seconds, or `-` where it is unknown."""
    return "-" if value is None else f"{value:.1f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def shown(value: object, limit: int = 60) -> str:
    """A JSON value on one line without control characters, cut with an ellipsis at `limit` characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+", " ", text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


@contextmanager
def progress(what: str) -> Iterator[OnProgress]:
    """A progress bar on standard error while the block runs; nothing at all where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, _what="", /: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=screen(is_error=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def move(done: int, total: int, step: str = "", /) -> None:
            bar.update(task, completed=done, total=total, description=step or what)

        yield move


def kind_of(error: Exception) -> str:
    """The kind of an error in JSON: its own `kind`, else its class in snake case (`schema_error`)."""
    own = getattr(error, "kind", None)
    if isinstance(own, str):
        return own
    if _full_disk(error) is not None:
        return "disk_error"
    if _lost_database(error) is not None:
        return "database_error"
    if not type(error).__module__.startswith(("scoring", "resources", "pipelines")):
        return USAGE_ERROR
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()


def _lost_database(error: BaseException | None) -> Exception | None:
    """What says that Postgres went away or refused to work: the error or a cause of it, since Dagster wraps its own.

    Told by name, since SQLAlchemy is only loaded where it is used.
    """
    while isinstance(error, Exception):
        kind = type(error)
        if kind.__module__ == "sqlalchemy.exc" and kind.__name__ in ("OperationalError", "InterfaceError"):
            return error
        error = error.__cause__
    return None


def _full_disk(error: Exception) -> Exception | None:
    """What says that a disk is full, ours or that of Postgres; told only of errors that can be about one."""
    from resources.full_disk import is_full_disk

    told = _lost_database(error) or (error if isinstance(error, OSError) else None)
    return told if told is not None and is_full_disk(told) else None


def report_error(error: Exception, *, as_json: bool) -> None:
    """Say what was wrong: `{"error": {"kind", "message"}}` on standard output, or one message on standard error."""
    message = _message_of(error)
    if as_json:
        failure: Mapping[str, Any] = {"error": {"kind": kind_of(error), "message": message}}
        print_json(failure)
        return
    if message:
        from rich.text import Text

        screen(is_error=True).print(Text.assemble(("error:", "bold red"), " ", message), soft_wrap=True)


def _message_of(error: Exception) -> str:
    from scoring.errors import InputError

    if isinstance(error, InputError):
        return str(error)
    if (full := _full_disk(error)) is not None:
        from resources.full_disk import words_of

        return words_of(full)
    if (lost := _lost_database(error)) is not None:
        first_line = str(getattr(lost, "orig", "")).strip().partition("\n")[0]
        return (
            f"Postgres does not answer: {first_line}. What was committed is kept; look with `assay doctor`, try again"
        )
    describe = getattr(error, "format_message", None)
    return str(describe()) if describe else str(error)


def path_shown(path: Path) -> str:
    """The path from the current folder where it lies below, else the whole of it."""
    try:
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    except ValueError:
        return str(path)


def command_name() -> str:
    """How this command is called from the current folder: `assay` where that finds it, else its path."""
    import shutil

    own = Path(sys.argv[0]).resolve()
    found = shutil.which("assay")
    is_found = found is not None and Path(found).resolve() == own
    if is_found or own.name != "assay":
        return "assay"
    return shlex.quote(path_shown(own))
