from __future__ import annotations

import pytest

from resources.columns import grain_of, meaning_of
from resources.lake_tables import DATASETS
from resources.tables import metadata


def test_every_declared_table_and_column_has_its_meaning_from_the_catalogue() -> None:
    for table in metadata.sorted_tables:
        relation = f"{table.schema}.{table.name}"
        assert table.comment == grain_of(relation)
        for column in table.columns:
            assert column.comment == meaning_of(column.name, relation)


def test_a_name_means_the_same_in_lake_and_table_unless_the_catalogue_says_otherwise() -> None:
    assert meaning_of("repetition", "runs") == meaning_of("repetition", "assay.runs") == meaning_of("repetition")
    assert meaning_of("quality", "bi.model_scores") != meaning_of("quality", "bi.run_scores")


def test_meanings_are_sentences() -> None:
    for dataset in DATASETS.values():
        for field in dataset:
            meaning = meaning_of(field.name)
            assert meaning[0].isupper() or meaning.split()[0] in field.name or "," in meaning, meaning
            assert meaning.endswith((".", "1")), meaning


@pytest.mark.parametrize("name", ["", "no_such_column"])
def test_a_column_that_nobody_described_is_an_error(name: str) -> None:
    with pytest.raises(KeyError):
        meaning_of(name, "assay.runs")
    with pytest.raises(KeyError):
        grain_of(f"assay.{name}")
