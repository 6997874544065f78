"""The lake: Parquet files, one dataset per asset, hive-partitioned; on a local path or on `s3://` with the same code.

A file belongs to the record only where a row in Postgres names it. Files are written once, under a name of their own,
and never changed; what a killed process left unnamed does not exist for any reader, and `sweep` removes it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from scoring.errors import InputError
from scoring.keys import safe_key

_SUFFIX = ".parquet"
_UNFINISHED = ".unfinished"
_S3_OPTIONS = {"endpoint_override", "scheme", "region"}

_KEYS = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to keys that may list, read, write and delete in this bucket"
_MENDABLE = {
    "NO_SUCH_BUCKET": ("the bucket does not exist", "Create it, or correct ASSAY_LAKE"),
    "ACCESS_DENIED": ("the object store refuses these keys", _KEYS),
    "INVALID_ACCESS_KEY_ID": ("the object store does not know these keys", _KEYS),
    "SIGNATURE_DOES_NOT_MATCH": ("the object store finds that the secret key is not this key's", _KEYS),
    "HTTP status 301": ("the bucket is in another region", "Name it: s3://bucket/prefix?region=NAME"),
    "NETWORK_CONNECTION": ("the object store does not answer", "Start it, or correct AWS_ENDPOINT_URL"),
}
"""What pyarrow's errors say of S3, what that means, and what to do about it."""


class Lake:
    """All files below one root: a local path, or a URL that pyarrow knows, like `s3://bucket/prefix`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._files, self._base = _opened(root)

    def write(self, dataset: str, partition: Mapping[str, str], table: pa.Table) -> str:
        """The name of a new file, relative to the root, that holds `table` and is on the disk as a whole.

        Values of `partition` are ids; they become hive folders `name=<safe key>`. Raises OSError and leaves no file of
        that name when the disk is full or the object store breaks down, InputError where somebody can mend it.
        """
        folders = [f"{name}={safe_key(value)}" for name, value in partition.items()]
        folder = "/".join([dataset, *folders])
        name = f"{folder}/{uuid.uuid4().hex}{_SUFFIX}"
        if isinstance(self._files, pafs.LocalFileSystem):
            _write_local(Path(self._base) / name, table)
        else:
            whole = _bytes_of(table)  # made first: closing a stream after an error would publish half an object
            with self._explained(), self._files.open_output_stream(f"{self._base}/{name}") as stream:
                stream.write(whole)
        return name

    def read(self, file: str, *, columns: Sequence[str] | None = None, where: pc.Expression | None = None) -> pa.Table:
        """What `write` was given under this name, or those of its columns and rows.

        Raises InputError where the file is gone.
        """
        path = f"{self._base}/{file}"
        try:
            with self._explained():
                return pq.read_table(path, columns=columns, filters=where, filesystem=self._files, partitioning=None)
        except FileNotFoundError:
            raise InputError(
                f"the lake has lost {file}, which a row in Postgres names",
                where=_named(self.root),
                remedy="Restore the lake from its backup, or point ASSAY_LAKE at the right one",
            ) from None

    def row_count(self, file: str) -> int | None:
        """How many rows the file of this name says it has; None where it is gone or no Parquet file."""
        try:
            with self._explained():
                return int(pq.read_metadata(f"{self._base}/{file}", filesystem=self._files).num_rows)
        except (FileNotFoundError, pa.ArrowInvalid):
            return None

    def files(self, dataset: str = "") -> list[str]:
        """The names of all finished files, sorted."""
        return sorted(name for name, _ in self._found(dataset) if name.endswith(_SUFFIX))

    def sweep(self, named: set[str], *, older_than: timedelta = timedelta(days=1)) -> list[str]:
        """The names of the files that were removed: those not in `named`, finished or not, older than the age.

        The age protects files that a running commit is about to name.
        """
        limit = datetime.now(UTC) - older_than
        orphans = sorted(name for name, modified in self._found("") if name not in named and modified < limit)
        with self._explained():
            for name in orphans:
                self._files.delete_file(f"{self._base}/{name}")
        return orphans

    def _found(self, dataset: str) -> Iterator[tuple[str, datetime]]:
        selector = pafs.FileSelector(f"{self._base}/{dataset}".rstrip("/"), recursive=True, allow_not_found=True)
        with self._explained():
            found = self._files.get_file_info(selector)
        for info in found:
            if info.type == pafs.FileType.File and info.path.endswith((_SUFFIX, _UNFINISHED)):
                yield info.path.removeprefix(f"{self._base}/"), info.mtime

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """An error that somebody can mend is raised as InputError; none repeats a key."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            for sign, (meaning, remedy) in _MENDABLE.items():
                if sign in str(error):
                    raise InputError(meaning, where=_named(self.root), remedy=remedy) from None
            raise


def _write_local(path: Path, table: pa.Table) -> None:
    _make_folder(path.parent)
    unfinished = path.with_suffix(_UNFINISHED)
    try:
        with unfinished.open("wb") as stream:
            _write_table(table, stream)
            stream.flush()
            unfinished.rename(path)  # whoever lists the folder sees whole files only
            os.fsync(stream.fileno())
        _sync_folder(path.parent)
    except OSError:
        unfinished.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise


def _opened(root: str) -> tuple[pafs.FileSystem, str]:
    if "://" not in root:
        return pafs.LocalFileSystem(), str(Path(root).absolute())
    try:
        files, base = _object_store(root) if root.startswith("s3://") else pafs.FileSystem.from_uri(root)
    except (pa.ArrowInvalid, OSError, ValueError) as error:
        raise InputError(
            f"the lake cannot be opened: {error}", where=_named(root), remedy="Use a path or s3://bucket/prefix"
        ) from None
    return files, base.rstrip("/")


def _object_store(root: str) -> tuple[pafs.FileSystem, str]:
    """S3, as `s3://bucket/prefix?endpoint_override=host:9000&scheme=http&region=eu-west-1` names it.

    Keys come from the environment only, as does the endpoint where the URL names none (`AWS_ENDPOINT_URL`).
    """
    parts = urlsplit(root)
    options = dict(parse_qsl(parts.query))
    if not set(options) <= _S3_OPTIONS:
        raise ValueError(f"the options of an s3:// lake are {', '.join(sorted(_S3_OPTIONS))}")
    if endpoint := os.environ.get("AWS_ENDPOINT_URL"):
        options.setdefault("endpoint_override", endpoint)
    store = pafs.S3FileSystem(allow_delayed_open=True, **options)  # a small file is one request then
    return store, f"{parts.netloc}{parts.path}"


def _named(root: str) -> str:
    return root.partition("?")[0]


def _write_table(table: pa.Table, stream: Any) -> None:
    with pq.ParquetWriter(stream, table.schema, compression="zstd") as writer:
        for group in _row_groups(table):
            writer.write_table(group)


def _row_groups(table: pa.Table) -> Iterator[pa.Table]:
    """One row group a model where rows name one, so that reading one model's rows skips the others."""
    if "model_id" not in table.column_names or table.num_rows == 0:
        yield table
        return
    models = table.column("model_id").to_pylist()
    start = 0
    for row in range(1, len(models) + 1):
        if row == len(models) or models[row] != models[start]:
            yield table.slice(start, row - start)
            start = row


def _bytes_of(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    _write_table(table, sink)
    return sink.getvalue()


def _make_folder(folder: Path) -> None:
    """The folder is there, and will be after a power cut."""
    if folder.exists():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
