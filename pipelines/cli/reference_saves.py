"""`assay reference set`, `edit` and `import`: what the owner of a reference changes by hand."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli import references, terminal
from pipelines.cli.options import AsJson, WorkspaceOption
from pipelines.cli.references import AuthorOption, BasedOnOption, ScenarioArgument, author_of, opened
from scoring.errors import InputError

if TYPE_CHECKING:
    from pipelines.cli.references import Opened
    from resources.references import ReferenceVersion
    from scoring.records import Json

EDITORS = ("VISUAL", "EDITOR")
VerifyOption = Annotated[bool, typer.Option("--verify", help="Vouch for the result; else it is a draft.")]
AnywayOption = Annotated[bool, typer.Option("--anyway", help="Also where it breaks the scenario's schema.")]


def set_(
    scenario: ScenarioArgument,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Where: /title, /cast/0/name, /cast/- for a new item.")],
    value: Annotated[
        str | None, typer.Argument(metavar="VALUE", help="JSON, else taken as text; left out with --remove.")
    ] = None,
    is_text: Annotated[bool, typer.Option("--text", help="Take the value as text, also where it is JSON.")] = False,
    is_removed: Annotated[bool, typer.Option("--remove", help="Take away what stands there.")] = False,
    is_verified: VerifyOption = False,
    is_anyway: AnywayOption = False,
    based_on: BasedOnOption = None,
    author: AuthorOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Set one value of a reference."""
    from scoring.placed_values import with_value, without_value

    if is_removed == (value is not None):
        raise InputError(
            "a value or --remove is needed, and not both", remedy="assay reference set SCENARIO PATH VALUE"
        )
    where = _pointer(path)

    def changed(head: ReferenceVersion) -> Json:
        try:
            if is_removed:
                return without_value(head.snapshot, where)
            return with_value(head.snapshot, where, _value(value or "", is_text=is_text))
        except KeyError as error:
            remedy = f"See its paths with: assay reference show {scenario} --json"
            raise InputError(f"nothing can stand at {path}: {error.args[0]}", where=scenario, remedy=remedy) from None

    did = f"{'removed' if is_removed else 'set'} {path}"
    return _save(workspace, scenario, changed, did, author, based_on, is_verified, is_anyway, as_json)


def edit(
    scenario: ScenarioArgument,
    is_verified: VerifyOption = False,
    is_anyway: AnywayOption = False,
    author: AuthorOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Edit a reference as JSON in your editor ($VISUAL or $EDITOR), automatic edits in place."""
    from pipelines.cli.compare import text_of
    from resources.sources import json_value

    with opened(workspace, scenario) as reference:
        head = reference.references.head(reference.scenario_id)
    based_on = 0 if head is None else head.number
    file = _in_the_editor({} if head is None else head.content)
    with _kept_until_saved(file, scenario, based_on):
        after = json_value(text_of(str(file)), str(file))
        code = _save(workspace, scenario, lambda _: after, "edited", author, based_on, is_verified, is_anyway, as_json)
        if code == references.DONE:
            file.unlink()
    return code


def import_(
    scenario: ScenarioArgument,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A JSON file; - reads what you paste.")] = "-",
    is_verified: VerifyOption = False,
    is_anyway: AnywayOption = False,
    based_on: BasedOnOption = None,
    author: AuthorOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Save a whole reference from a file or from standard input."""
    from pipelines.cli.compare import text_of
    from resources.sources import json_value

    name = "standard input" if file == "-" else file
    content = json_value(text_of(file), name)
    did = f"imported from {name}"
    return _save(workspace, scenario, lambda _: content, did, author, based_on, is_verified, is_anyway, as_json)


def _save(
    workspace: Path | None,
    scenario: str,
    changed: Callable[[ReferenceVersion], Json],
    did: str,
    author: str | None,
    based_on: int | None,
    is_verified: bool,
    is_anyway: bool,
    as_json: bool,
) -> int:
    from resources.references import ReferenceConflictError

    with opened(workspace, scenario) as reference:
        head = reference.references.head(reference.scenario_id)
        content = changed(head if head is not None else _nothing(reference))
        if not is_anyway:
            _require_valid(reference, content, None if head is None else head.content)
        if head is not None and not is_verified and _is_same(head, content):
            references.print_version(head, "nothing differs", as_json=as_json)
            return references.DONE
        try:
            version = reference.references.save(
                reference.scenario_id,
                content,
                author=author_of(author),
                is_verified=is_verified,
                based_on=based_on if based_on is not None or head is None else head.number,
                note=did,
            )
        except ReferenceConflictError as error:
            return references.conflict(error, as_json=as_json)
        edits = [one for one in reference.references.edits(version) if one.number == version.number]
    references.print_version(version, did, as_json=as_json, edits=edits)
    return references.DONE


def _nothing(reference: Opened) -> ReferenceVersion:
    """An empty version to start from, where there is none."""
    from datetime import UTC, datetime

    from resources.references import ReferenceOrigin, ReferenceVersion
    from scoring.edits import Save, Snapshot

    return ReferenceVersion(
        reference_version_id=0,
        scenario_id=reference.scenario_id,
        number=0,
        content={},
        item_ids={},
        content_hash="",
        author="",
        origin=ReferenceOrigin.OWNER_SAVE,
        is_verified=False,
        parent_id=None,
        created_at=datetime.now(UTC),
        owner=Snapshot(content={}),
        owner_hash="",
        save=Save(after_round=0, paths=frozenset()),
        note="",
    )


def _is_same(head: ReferenceVersion, content: Json) -> bool:
    from scoring.staleness import content_hash

    return head.content_hash == content_hash(content)


def _require_valid(reference: Opened, content: Json, before: Json) -> None:
    """Raises InputError where the content breaks the schema anew; what was broken before may stay so."""
    from scoring.schema import violations

    known = set(violations(reference.scenario.schema, before))
    found = [one for one in violations(reference.scenario.schema, content) if one not in known]
    if found:
        more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
        raise InputError(
            f"it breaks the scenario's schema: {'; '.join(found[:5])}{more}",
            where=reference.scenario_id,
            remedy="Mend it, or save it all the same with --anyway",
        )


def _pointer(path: str) -> str:
    return path if path.startswith("/") or not path else f"/{path}"


def _value(text: str, *, is_text: bool) -> Json:
    if is_text:
        return text
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value


def _in_the_editor(content: Json) -> Path:
    """A file of its own with what the editor left of the content. Raises InputError where there is no editor."""
    command = next((os.environ[name] for name in EDITORS if os.environ.get(name)), "vi")
    handle, name = tempfile.mkstemp(prefix="assay-reference-", suffix=".json")
    file = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    try:
        done = subprocess.run([*shlex.split(command), name], check=False)  # noqa: S603 - the person's own editor
    except OSError as error:
        file.unlink()
        raise InputError(f"the editor {command!r} cannot be started ({error})", remedy="Set EDITOR") from None
    if done.returncode != 0:
        raise InputError(f"the editor ended with exit code {done.returncode}; nothing was saved", where=name)
    return file


@contextmanager
def _kept_until_saved(file: Path, scenario: str, based_on: int) -> Iterator[None]:
    """Whatever keeps a text from being saved, the file stays and its author is told how to save it."""
    try:
        yield
    finally:
        if file.exists():
            command = f"assay reference import {scenario} {shlex.quote(str(file))} --based-on {based_on}"
            kept = f"Your text is kept; mend it, then: {command}"
            terminal.screen(is_error=True).print(kept, style="bold", soft_wrap=True, highlight=False, markup=False)
