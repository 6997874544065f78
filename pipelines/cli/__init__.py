"""The command `assay`: a file per group of commands, each importing what it needs only when it runs."""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from pipelines.cli import (
    bi,
    calibrate,
    compare,
    demo,
    doctor,
    gate,
    history,
    judge,
    ranking,
    reference,
    results,
    run,
    score,
    services,
    workspaces,
)
from pipelines.cli.terminal import kind_of, report_error, write_anything
from scoring.errors import InputError

DONE, BAD_INPUT, INTERRUPTED = 0, 2, 130
SERVICE_ERRORS = ("database_error", "disk_error", "embedding_error", "judge_error")

app = typer.Typer(
    name="assay",
    help="Grades recorded outputs of language models against a gold reference, field by field.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(services.up)
app.command()(workspaces.init)
app.command("import")(workspaces.import_)
app.command()(compare.compare)
app.command()(run.run)
app.command()(score.score)
app.command()(results.results)
app.command()(ranking.ranking)
app.command()(gate.gate)
app.add_typer(reference.app, name="reference")
app.command()(history.history)
app.add_typer(judge.app, name="judge")
app.command()(calibrate.calibrate)
app.add_typer(bi.app, name="bi")
app.command()(doctor.doctor)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Say the version and stop.", is_eager=True)] = False,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"assay {version_of('assay')}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 the asked-for check failed, 2 usage or bad input.

    Input that a person can mend is reported in one message, as JSON on standard output where `--json` was asked for. A
    fault of Assay itself is a plain traceback, which shows no values of variables.
    """
    # Dagster marks parts that we chose as beta: settled in docs/decisions.md, and no news to whoever runs a command.
    warnings.filterwarnings("ignore", message=r".* is currently in (beta|preview)")
    write_anything()
    if arguments is None:
        _search_for_cycles_rarely()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=given, prog_name="assay", standalone_mode=False)
    except (InputError, typer.TyperException) as error:
        report_error(error, as_json="--json" in given)
        return BAD_INPUT
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Exception as error:
        if kind_of(error) not in SERVICE_ERRORS:
            raise
        report_error(error, as_json="--json" in given)
        return BAD_INPUT
    return code if isinstance(code, int) else DONE


def _search_for_cycles_rarely() -> None:
    """This process looks for unreachable cycles seldom, and not at its end.

    A round makes millions of objects and hardly a cycle: looking for them took a fifth of its time.
    """
    gc.set_threshold(50_000, 20, 20)
    atexit.register(gc.freeze)
