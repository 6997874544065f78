"""Zip files that other tools wrote, read in place: nothing is unpacked to disk, and no archive unpacks without end."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from scoring.errors import InputError

MAX_UNPACKED_RATIO = 500
MIN_UNPACKED_BYTES = 256_000_000

_ZSTANDARD = 93
_IS_ENCRYPTED = 0x1
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError)


class _Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Archive:
    """An open zip file: the names in it, and each member as a stream. Close it, or use it in a `with`.

    Raises `InputError` for a file that is no whole zip, and for one that would unpack to more than both
    `MIN_UNPACKED_BYTES` and `MAX_UNPACKED_RATIO` times its size. `remedy` says what to do about what is not read.
    """

    def __init__(self, path: Path, remedy: str) -> None:
        self.path = path
        self._remedy = remedy
        try:
            self._zip = zipfile.ZipFile(path)
            size = path.stat().st_size
        except (*_DAMAGE, ValueError, NotImplementedError) as error:
            message = f"not a whole zip file ({error})"
            raise InputError(message, where=str(path), remedy="Copy it again; it is cut off or damaged.") from error
        self.members = {info.filename: info for info in self._zip.infolist()}
        unpacked = sum(info.file_size for info in self._zip.infolist())
        if unpacked > max(MIN_UNPACKED_BYTES, MAX_UNPACKED_RATIO * size):
            self._zip.close()
            raise InputError(f"{size:,} bytes would unpack to {unpacked:,}", where=str(path), remedy=remedy)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def place(self, name: str) -> str:
        """How messages name a member: `file:member`, on one line."""
        shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in name[:200])
        return f"{self.path}:{shown}"

    @contextmanager
    def open(self, name: str) -> Iterator[MemberStream]:
        """The member's bytes. Raises `InputError` for one that is damaged, encrypted or packed in a way not read."""
        info = self.members[name]
        where = self.place(name)
        if info.flag_bits & _IS_ENCRYPTED:
            raise InputError("is encrypted", where=where, remedy=self._remedy)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD):
            raise InputError(f"packed with method {info.compress_type}", where=where, remedy=self._remedy)
        try:
            source: Any = _zstandard(self.path, info) if info.compress_type == _ZSTANDARD else self._zip.open(info)
        except _DAMAGE as error:
            raise InputError(f"is damaged ({error})", where=where) from error
        with source:
            yield MemberStream(source, info, where)


class MemberStream:
    """What a member unpacks to; never more than the zip's directory says, and checked against its sum at the end."""

    def __init__(self, source: _Source, info: zipfile.ZipInfo, where: str) -> None:
        self._source = source
        self._info = info
        self._where = where
        self._size = 0
        self._sum = 0

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, none at the end. Raises `InputError` for damaged content."""
        try:
            chunk = bytes(self._source.read(size))
        except _DAMAGE as error:
            raise InputError(f"is damaged ({error})", where=self._where) from error
        self._size += len(chunk)
        self._sum = zlib.crc32(chunk, self._sum)
        is_wrong = self._size != self._info.file_size or self._sum != self._info.CRC
        if self._size > self._info.file_size or (not chunk and is_wrong):
            raise InputError("is damaged (its size or checksum is another one)", where=self._where)
        return chunk


def _zstandard(path: Path, info: zipfile.ZipInfo) -> Any:
    """The unpacked stream of a member that Python's zipfile cannot read before 3.14. The caller closes it."""
    import pyarrow as pa

    window = _Window(path, info)
    return pa.CompressedInputStream(pa.PythonFile(window, mode="r"), "zstd")


class _Window(io.RawIOBase):
    """The packed bytes of one member."""

    def __init__(self, path: Path, info: zipfile.ZipInfo) -> None:
        super().__init__()
        self._file = path.open("rb")
        self._file.seek(info.header_offset)
        mark, name_length, extra_length = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
        if mark != b"PK\x03\x04":
            self._file.close()
            raise zipfile.BadZipFile("no member where the directory names one")
        self._file.seek(name_length + extra_length, io.SEEK_CUR)
        self._left = info.compress_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._file.read(min(len(buffer), self._left))
        self._left -= len(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._file.close()
        super().close()
