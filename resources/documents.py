"""The source documents of a scenario as plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path

from resources.pdf import pdf_text
from resources.sources import read_bytes, read_text
from scoring.errors import InputError
from scoring.records import Document

MAX_DOCUMENT_BYTES = 20_000_000

_SILENT = frozenset({"head", "script", "style", "template", "noscript", "svg"})
_BLOCKS = frozenset(
    [
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "br",
            "caption",
            "dd",
            "div",
            "dl",
            "dt",
            "figcaption",
            "figure",
        ),
        *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre"),
        *("section", "table", "tbody", "tfoot", "thead", "tr", "ul"),
    ]
)
_CELLS = frozenset({"td", "th"})
_SPACES = re.compile(r"[ \t\r\f\v\u00a0]+")
_LINES = re.compile(r"[ \x00]*\n[ \n\x00]*")


def read_document(path: Path, name: str) -> Document:
    """The document as text, named by its file name.

    Text and Markdown are taken as they are, HTML as its visible text, PDF as the text of its pages. Raises `InputError`
    for other kinds of file.
    """
    kind = path.suffix.casefold()
    if kind == ".pdf":
        return Document(name=path.name, text=pdf_text(read_bytes(path, name, max_bytes=MAX_DOCUMENT_BYTES), name))
    if kind not in _READERS:
        raise InputError(
            f"a document of kind {kind or 'without ending'} cannot be read",
            where=name,
            remedy=f"Put its text beside it as {path.stem}.txt, or take it out of the folder; "
            "documents are .txt, .md, .html or .pdf.",
        )
    return Document(name=path.name, text=_READERS[kind](read_text(path, name, max_bytes=MAX_DOCUMENT_BYTES)))


def html_text(html: str) -> str:
    """The visible text of a page: a line a block, tabs between the cells of a row, no scripts or styles."""
    page = _Page()
    page.feed(html)
    page.close()
    return _LINES.sub("\n", _SPACES.sub(" ", "".join(page.parts))).strip(" \n\x00").replace("\x00", "\t")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's name
        if tag in _SILENT:
            self.silent.append(tag)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's name
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.silent:
            del self.silent[self.silent.index(tag) :]
        elif tag in _CELLS:
            self.parts.append("\x00")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.parts.append(data.replace("\x00", " ").replace("\n", " "))


def _unchanged(text: str) -> str:
    return text


_READERS: Mapping[str, Callable[[str], str]] = {
    ".txt": _unchanged,
    ".md": _unchanged,
    ".markdown": _unchanged,
    ".html": html_text,
    ".htm": html_text,
}
READABLE_ENDINGS = frozenset(_READERS)
