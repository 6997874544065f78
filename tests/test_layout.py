"""The house style as far as a machine can hold it: imports of the core, lengths, and that the lock is current."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGES = ("assets", "desk", "pipelines", "resources", "scoring", "sensors")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
CORE = sorted((ROOT / "scoring").rglob("*.py"))

CORE_LIBRARIES = {
    "scoring",
    "numpy",
    "scipy",
    "rapidfuzz",
    "babel",
    "jsonschema",
    "referencing",
    "jsonschema_specifications",
}
# The standard library's ways out: files, network, processes, clock, environment, chance, threads.
# fmt: off
OUTSIDE_WORLD = {
    "asyncio", "concurrent", "ctypes", "email", "fcntl", "ftplib", "getpass", "glob", "http", "importlib", "io",
    "logging", "multiprocessing", "os", "pathlib", "pickle", "platform", "random", "secrets", "select", "shelve",
    "shutil", "signal", "socket", "socketserver", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading",
    "time", "tracemalloc", "urllib", "uuid", "webbrowser",
}
# fmt: on
CLOCKS_AND_CHANCE = {"now", "utcnow", "today", "default_rng", "seed", "getenv"}
LONGEST_FILE, LONGEST_FUNCTION, MEDIAN_FUNCTION = 400, 50, 10


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_by(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield (node.module or "").split(".")[0]


def calls_in(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            yield (
                node,
                called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else "",
            )


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def functions_of(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the function without its docstring and decorators."""
    has_docstring = ast.get_docstring(function) is not None
    docstring = function.body[0] if has_docstring else None
    skipped = (docstring.end_lineno or 0) - docstring.lineno + 1 if docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - skipped


def test_the_core_imports_nothing_that_reaches_the_outside_world() -> None:
    allowed = (set(sys.stdlib_module_names) - OUTSIDE_WORLD) | CORE_LIBRARIES
    assert [(label(path), name) for path in CORE for name in imported_by(tree_of(path)) if name not in allowed] == []


def test_the_core_reads_no_clock_and_rolls_no_dice() -> None:
    forbidden = CLOCKS_AND_CHANCE | {"open", "input", "print", "eval", "exec"}
    calls = [(label(path), node.lineno, name) for path in CORE for node, name in calls_in(tree_of(path))]
    assert [call for call in calls if call[2] in forbidden] == []


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {label(path): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_is_longer_than_50_lines() -> None:
    lengths = [(label(path), one.name, lines_of(one)) for path in MODULES for one in functions_of(tree_of(path))]
    assert [found for found in lengths if found[2] > LONGEST_FUNCTION] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_short(package: str) -> None:
    lengths = [
        lines_of(function)
        for path in MODULES
        if path.is_relative_to(ROOT / package)
        for function in functions_of(tree_of(path))
    ]
    assert not lengths or statistics.median(lengths) <= MEDIAN_FUNCTION


def test_there_are_no_grab_bags() -> None:
    grab_bag = re.compile(r"util|helper|manager|misc|common|registry")
    assert [label(path) for path in MODULES if grab_bag.search(path.stem)] == []


def pins() -> list[tuple[str, str]]:
    """Name and version of every entry of the lock that holds for this Python and platform."""
    entries = re.findall(
        r"^([A-Za-z0-9._-]+)==([^ ;\\\n]+)(?: ; ([^\\\n]+))?", (ROOT / "requirements.lock").read_text(), re.MULTILINE
    )
    return [
        (canonicalize_name(name), version)
        for name, version, marker in entries
        if not marker or Marker(marker).evaluate()
    ]


def declared() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    package, extras = project["project"], project["project"]["optional-dependencies"].values()
    texts = [
        *package["dependencies"],
        *(one for extra in extras for one in extra),
        *project["dependency-groups"]["dev"],
    ]
    return [Requirement(text) for text in texts]


def test_every_dependency_is_locked_within_its_bounds() -> None:
    versions = dict(pins())
    wrong = [
        str(requirement)
        for requirement in declared()
        if not requirement.specifier.contains(versions.get(canonicalize_name(requirement.name), "0"), prereleases=True)
    ]
    assert wrong == [], "run `make lock`"


def test_the_lock_holds_nothing_that_is_no_longer_wanted() -> None:
    text = (ROOT / "requirements.lock").read_text()
    entries = re.findall(r"^([A-Za-z0-9._-]+)==.*?(?=^[A-Za-z0-9]|\Z)", text, re.MULTILINE | re.DOTALL)
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    direct = {
        canonicalize_name(name) for name, block in zip(entries, blocks, strict=True) if re.search(r"# .*assay", block)
    }
    assert direct == {canonicalize_name(requirement.name) for requirement in declared()}, "run `make lock`"


def test_every_locked_package_has_a_hash_and_no_registry_host() -> None:
    text = (ROOT / "requirements.lock").read_text()
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert "http" not in re.sub(r"^[A-Za-z0-9].*==", "", re.sub(r"#.*|^(?:aio)?http\S*", "", text, flags=re.MULTILINE))


def test_the_environment_is_the_locked_one() -> None:
    versions = dict(pins())
    installed = {canonicalize_name(one.metadata["Name"]): one.version for one in metadata.distributions()}
    assert {name: installed.get(name) for name, version in versions.items() if installed.get(name) != version} == {}


def test_the_environment_is_consistent() -> None:
    command = [str(Path(sys.executable).parent / "uv"), "pip", "check", "--offline", "--python", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
