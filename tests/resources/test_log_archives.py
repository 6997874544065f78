"""Archives of other tools are read in place; damaged, hostile and unread ones are refused in words."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from resources import log_archives
from resources.log_archives import Archive
from scoring.errors import InputError
from tests.foreign_logs import write_zip


def content_of(path: Path, name: str = "a.json") -> bytes:
    with Archive(path, "Convert it.") as archive, archive.open(name) as member:
        return b"".join(iter(lambda: member.read(1000), b""))


def message_of(read: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value)


@pytest.mark.parametrize("is_zstandard", [False, True])
@pytest.mark.parametrize("text", ["", "x", "Émile " * 100_000])
def test_a_member_is_read_whole(tmp_path: Path, text: str, is_zstandard: bool) -> None:
    path = write_zip(tmp_path / "log.eval", {"before.json": "{}", "a.json": text}, is_zstandard=is_zstandard)
    assert content_of(path).decode() == text


@pytest.mark.parametrize("is_zstandard", [False, True])
def test_damage_is_noticed(tmp_path: Path, is_zstandard: bool) -> None:
    path = write_zip(tmp_path / "log.eval", {"a.json": "".join(map(str, range(5000)))}, is_zstandard=is_zstandard)
    whole = path.read_bytes()
    path.write_bytes(whole[:500] + bytes(200) + whole[700:])
    assert "log.eval:a.json: is damaged" in message_of(lambda: content_of(path))
    path.write_bytes(whole[:-30])
    assert "not a whole zip file" in message_of(lambda: content_of(path))


def test_a_member_that_is_longer_than_the_directory_says_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "log.eval", {"a.json": "x" * 10_000}, is_zstandard=True)
    content = path.read_bytes()
    path.write_bytes(content.replace((10_000).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    assert "is damaged (its size" in message_of(lambda: content_of(path))


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_zip(tmp_path / "log.eval", {"a.json": "x" * 5_000_000})
    assert len(content_of(path)) == 5_000_000
    monkeypatch.setattr(log_archives, "MIN_UNPACKED_BYTES", 1_000_000)
    assert "would unpack to 5,000,000. Convert it." in message_of(lambda: content_of(path))


def test_a_way_of_packing_that_is_not_read_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.json", "{}")
    assert "log.eval:a.json: packed with method 12. Convert it." in message_of(lambda: content_of(path))


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "log.eval", {"a.json": "{}"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert "is encrypted. Convert it." in message_of(lambda: content_of(path))


def test_a_name_in_a_message_stays_on_its_line(tmp_path: Path) -> None:
    with Archive(write_zip(tmp_path / "log.eval", {"../a\n\x1b[2J": "{}"}), "") as archive:
        assert archive.place("../a\n\x1b[2J").endswith("log.eval:../a\ufffd\ufffd[2J")
