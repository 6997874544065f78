"""YAML and JSON files as people write them: one value each, and the line where every key stands.

YAML is read as the JSON-like core of YAML 1.2 (only `true` and `false` are booleans, `007` and `1972-03-14` are text),
so that what a file says never depends on YAML 1.1's surprises. Duplicate keys, merge keys and custom tags are refused,
and aliases cannot blow a file up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from scoring.errors import InputError
from scoring.records import Json

KeyPath = tuple[str | int, ...]

MAX_YAML_BYTES = 4_000_000
MAX_JSON_BYTES = 64_000_000
MAX_YAML_VALUES = 50_000
MAX_DEPTH = 100

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")
_WORDS: Mapping[str, Json] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+\Z")
_TAGS = {
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map", "value")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file's value. `lines` maps key paths to line numbers from 1; a path that is not in it has no known line."""

    name: str
    value: Json
    lines: Mapping[KeyPath, int] = field(default_factory=dict)

    def place(self, path: KeyPath) -> str:
        """The file with the line of the key path, or of its nearest parent whose line is known: `assay.yaml:12`."""
        for length in range(len(path), -1, -1):
            if (line := self.lines.get(path[:length])) is not None:
                return f"{self.name}:{line}"
        return self.name


def read_text(path: Path, name: str, *, max_bytes: int) -> str:
    """The file's text in UTF-8 without byte order mark.

    Raises `InputError` for a file that is too large, cannot be read or is not UTF-8.
    """
    return decoded(read_bytes(path, name, max_bytes=max_bytes), name)


def read_bytes(path: Path, name: str, *, max_bytes: int) -> bytes:
    """The file's bytes. Raises `InputError` for a file that is too large or cannot be read."""
    try:
        size = path.stat().st_size
        if size > max_bytes:
            raise InputError(f"the file has {size:,} bytes, at most {max_bytes:,} are read", where=name)
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=name) from error


def decoded(content: bytes, name: str, *, first_line: int = 1) -> str:
    """UTF-8 text without byte order mark. Raises `InputError` with the line of the first byte that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + first_line
        raise InputError(
            f"byte 0x{content[error.start]:02x} is not UTF-8", where=f"{name}:{line}", remedy="Save the file as UTF-8."
        ) from error


def read_yaml(path: Path, name: str) -> Source:
    """The YAML file as a `Source`. Raises `InputError` with the line for anything that is not plain YAML."""
    return yaml_source(read_text(path, name, max_bytes=MAX_YAML_BYTES), name)


def yaml_source(text: str, name: str) -> Source:
    """YAML text as a `Source`. Raises `InputError` with the line for anything that is not plain YAML."""
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}" if mark else name
        raise InputError(f"not valid YAML ({_yaml_problem(error)})", where=where, remedy=_yaml_remedy(error)) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"not valid YAML ({str(error).splitlines()[0]})", where=name) from error
    finally:
        if loader is not None:
            loader.dispose()
    builder = _Builder(name=name)
    return Source(name=name, value=None if node is None else builder.value_of(node, ()), lines=builder.lines)


def _yaml_problem(error: yaml.MarkedYAMLError) -> str:
    return ", ".join(part for part in (error.context, error.problem) if part)


def _yaml_remedy(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or ""
    if "cannot start any token" in problem or "tab" in problem:
        return "Indent with spaces, never with tabs, and quote values that begin with @, ` or %."
    if "mapping values are not allowed" in problem:
        return "Quote a value that holds a colon."
    return ""


@dataclass(slots=True)
class _Builder:
    """Builds the value of a YAML node tree and notes the lines. Counts values, so that aliases stay bounded."""

    name: str
    lines: dict[KeyPath, int] = field(default_factory=dict)
    count: int = 0

    def value_of(self, node: yaml.Node, path: KeyPath) -> Json:
        self.count += 1
        self.lines.setdefault(path, node.start_mark.line + 1)
        if self.count > MAX_YAML_VALUES:
            raise self.refusal(node, f"more than {MAX_YAML_VALUES:,} values once aliases are written out")
        if len(path) > MAX_DEPTH:
            raise self.refusal(node, f"more than {MAX_DEPTH} levels deep (or an alias inside itself)")
        if node.tag not in _TAGS:
            raise self.refusal(node, f"the tag {node.tag} is not read", "Write plain values without `!` tags.")
        match node:
            case yaml.MappingNode():
                return self.mapping_of(node, path)
            case yaml.SequenceNode():
                return [self.value_of(item, (*path, index)) for index, item in enumerate(node.value)]
            case _:
                return self.scalar_of(node)

    def mapping_of(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Json]:
        mapping: dict[str, Json] = {}
        for key_node, value_node in node.value:
            key = self.key_of(key_node)
            if key in mapping:
                twice = f"the key {key!r} stands twice, first on line {self.lines[(*path, key)]}"
                raise self.refusal(key_node, twice, "Keep one of them.")
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            mapping[key] = self.value_of(value_node, (*path, key))
        return mapping

    def key_of(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self.refusal(node, "a key that is a list or a mapping", "Write keys as plain text.")
        if node.value == "<<" and not node.style:
            raise self.refusal(node, "the merge key `<<` is not read", "Write the keys out.")
        return str(node.value)

    def scalar_of(self, node: Any) -> Json:
        text = str(node.value)
        if node.style or (node.tag.endswith(":str") and not _EXPONENT.match(text)):
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.match(text) and len(text) < 4000:
            return int(text)
        if _FLOAT.match(text) and not _LEADING_ZERO.match(text):
            return float(text)
        return text

    def refusal(self, node: yaml.Node, message: str, remedy: str = "") -> InputError:
        return InputError(message, where=f"{self.name}:{node.start_mark.line + 1}", remedy=remedy)


def read_json(path: Path, name: str, *, max_bytes: int = MAX_JSON_BYTES) -> Json:
    """The strict JSON value of the file. Raises `InputError` with the line for anything that is not one JSON value."""
    return json_value(read_text(path, name, max_bytes=max_bytes), name)


def json_value(text: str, name: str) -> Json:
    """The strict JSON value of the text: no duplicate keys, NaN, numbers out of range or depths over 500 levels."""
    try:
        value: Json = json.loads(
            text, object_pairs_hook=_unique_keys(name), parse_constant=_no_constant(name), parse_float=_finite(name)
        )
    except json.JSONDecodeError as error:
        place = f"{name}:{error.lineno}"
        raise InputError(f"not valid JSON ({error.msg}, column {error.colno})", where=place) from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deep", where=name) from error
    except ValueError as error:
        raise InputError(f"not valid JSON ({error})", where=name) from error
    return value


def _unique_keys(name: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def mapping_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"the key {twice!r} stands twice in one object", where=name, remedy="Keep one of them.")
        return mapping

    return mapping_of


def _no_constant(name: str) -> Callable[[str], Json]:
    def refuse(word: str) -> Json:
        raise InputError(f"{word} is not JSON", where=name, remedy="Write null for a value that is not known.")

    return refuse


def _finite(name: str) -> Callable[[str], float]:
    def number_of(text: str) -> float:
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise InputError(f"the number {text[:40]} is out of range", where=name)
        return number

    return number_of
