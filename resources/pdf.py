"""The text of a PDF, by pypdf."""

from __future__ import annotations

import io
import logging

from scoring.errors import InputError

MAX_PAGES = 1_000
_NO_TEXT = "Put its text beside it under the same name with the ending .txt"


def pdf_text(content: bytes, name: str) -> str:
    """The text of all pages, an empty line between two.

    Raises InputError for what is no PDF, is locked by a password, has more than 1,000 pages, or holds no text (a scan).
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns about every oddity that it copes with
    try:
        reader = PdfReader(io.BytesIO(content))
        if len(reader.pages) > MAX_PAGES:
            raise InputError(
                f"{len(reader.pages):,} pages, at most {MAX_PAGES:,} are read", where=name, remedy=_NO_TEXT
            )
        pages = [page.extract_text().strip() for page in reader.pages]
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OSError) as error:
        # A damaged file fails in any of these ways, depending on where the damage is.
        raise InputError(
            f"not a readable PDF ({type(error).__name__}: {error})", where=name, remedy=_NO_TEXT
        ) from error
    text = "\n\n".join(page for page in pages if page)
    if not text:
        raise InputError("the PDF holds no text, only pictures of it", where=name, remedy=_NO_TEXT)
    return text
