"""Documents are read as the text a person sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.documents import html_text, read_document
from scoring.errors import InputError


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("<b>bold</b>ly <i>said</i>", "boldly said"),
        ("a\n  b\t c", "a b c"),
        ("<table><tr><th>mass</th><td>5 kg</td></tr><tr><td>x</td></tr></table>", "mass\t5 kg\nx"),
        ("<ul><li>a</li><li>b</li></ul>", "a\nb"),
        ("<head><title>t</title></head><body>b</body>", "b"),
        ("<script>if (a < b) x()</script><style>p {}</style>seen", "seen"),
        ("<p>&lt;tag&gt; &amp;&nbsp;caf&eacute; &#8364;</p>", "<tag> & café €"),
        ("<!-- hidden -->seen", "seen"),
        ("<div>never closed <p>and on", "never closed\nand on"),
        ("plain, no tag", "plain, no tag"),
        ("</script></p>stray ends", "stray ends"),
        ("", ""),
    ],
)
def test_a_page_is_its_visible_text(html: str, text: str) -> None:
    assert html_text(html) == text


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.txt", b"one\r\ntwo\n", "one\r\ntwo\n"),
        ("a.md", b"# One <b>\n", "# One <b>\n"),
        ("A.HTML", b"<h1>One</h1>", "One"),
        ("a.txt", b"\xef\xbb\xbfone", "one"),
        ("a.htm", "<p>Zürich</p>".encode(), "Zürich"),
    ],
)
def test_a_document_is_read_by_its_ending(tmp_path: Path, name: str, content: bytes, text: str) -> None:
    (tmp_path / name).write_bytes(content)
    document = read_document(tmp_path / name, name)
    assert (document.name, document.text) == (name, text)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pdf", b"%PDF", "a.pdf: not a readable PDF"),
        ("a.pdf", b"%PDF-1.7\n" + b"\xff" * 500, "Put its text beside it under the same name with the ending .txt"),
        ("a.docx", b"PK", "documents are .txt, .md, .html"),
        ("a", b"x", "kind without ending cannot be read"),
        ("a.txt", b"one\ntwo \xe9", "a.txt:2: byte 0xe9 is not UTF-8"),
        ("a.txt", b"x" * 20_000_001, "at most 20,000,000 are read"),
    ],
)
def test_a_document_that_cannot_be_read_says_what_to_do(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_document(tmp_path / name, name)
    assert message in str(caught.value)


def test_a_document_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt: cannot be read"):
        read_document(tmp_path / "gone.txt", "gone.txt")
