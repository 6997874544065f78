"""Which parts of long documents a question shows."""

from __future__ import annotations

from scoring.passages import WHOLE_CHARACTERS, documents_for
from scoring.records import Document

FILLER = "\n\n".join(f"Paragraph {n} speaks of weather and of nothing else at all. " * 4 for n in range(200))


def test_short_documents_are_shown_whole() -> None:
    documents = (Document(name="a", text="One."), Document(name="b", text="Two."))
    assert documents_for(documents, ["anything"]) == documents


def test_of_long_documents_the_passages_that_share_words_are_shown_in_order() -> None:
    text = f"The zebra sleeps.\n\n{FILLER}\n\nA quagga is no Zebra."
    found = documents_for((Document(name="long", text=text),), ["zebra"])
    assert [document.name for document in found] == ["long"]
    assert found[0].text.startswith("The zebra sleeps.")
    assert found[0].text.endswith("A quagga is no Zebra.")
    assert "[...]" in found[0].text
    assert len(found[0].text) <= WHOLE_CHARACTERS + 1000


def test_a_document_without_a_word_in_common_is_left_out() -> None:
    documents = (Document(name="long", text=FILLER), Document(name="other", text="The zebra sleeps."))
    assert [document.name for document in documents_for(documents, ["zebra"])] == ["other"]


def test_the_choice_does_not_depend_on_the_order_of_the_words() -> None:
    documents = (Document(name="long", text=FILLER + "\n\nThe zebra and the gnu."),)
    assert documents_for(documents, ["zebra", "gnu", "weather"]) == documents_for(documents, ["weather", "gnu zebra"])
