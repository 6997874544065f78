"""PDFs are read page by page, and what holds no text is refused with the way out."""

import io

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from resources.pdf import pdf_text
from scoring.errors import InputError


def pdf_of(*pages: str, password: str = "") -> bytes:
    """A PDF with one line of text a page; an empty text is a page without any."""
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(width=300, height=200)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode("ascii") if text else b"")
        page[NameObject("/Contents")] = writer._add_object(stream)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def test_the_text_of_all_pages_is_read_in_their_order() -> None:
    assert pdf_text(pdf_of("Half-life 1.8 hours", "", "Dose 400 mg"), "a.pdf") == "Half-life 1.8 hours\n\nDose 400 mg"


def test_a_scan_is_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match=r"holds no text.*ending \.txt"):
        pdf_text(pdf_of("", ""), "a.pdf")


def test_a_locked_pdf_is_refused() -> None:
    with pytest.raises(InputError, match="not a readable PDF"):
        pdf_text(pdf_of("secret", password="unknown"), "a.pdf")


def read_or_refused(content: bytes) -> str:
    """The text, or the file that the refusal names."""
    try:
        return "read: " + pdf_text(content, "a.pdf")
    except InputError as error:
        return error.where


@pytest.mark.parametrize("cut", range(20, 900, 80))
def test_a_damaged_pdf_is_text_or_a_clear_refusal(cut: int) -> None:
    assert read_or_refused(pdf_of("one", "two")[:cut]).startswith(("read: ", "a.pdf"))
