import pytest

from scoring.evident_keys import evident_keys, label_of
from scoring.records import Json


def column(**values: list[Json]) -> list[Json]:
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


@pytest.mark.parametrize(
    ("items", "keys"),
    [
        (column(id=[1, 2]), ("id",)),
        (column(name=["a", "b"], ID=["x", "y"]), ("ID",)),
        (column(code=["a", "b"], id=[1, 2]), ("id",)),
        (column(id=[1, 1], sku=["a", "b"]), ("sku",)),
        (column(sku=["a", "b"], upc=["c", "d"]), ("sku",)),
        (column(id=[1, None]), ()),
        (column(id=["a", " A "]), ()),
        (column(id=["", "b"]), ()),
        (column(id=[1, "1"]), ()),
        (column(id=[1.5, 2.5]), ()),
        (column(id=[True, False]), ()),
        (column(id=[[1], [2]]), ()),
        ([{"id": 1}, {"x": 2}], ()),
        ([{"id": 1}, "plain"], ()),
        (column(name=["a", "b"]), ()),
        (column(line_number=["1", "2"]), ()),
        (column(customer_id=["a", "b"]), ("customer_id",)),
        (column(customer_id=["a", "b"], product_id=["c", "d"]), ()),
        (column(customerId=["a", "b"], orderId=["c", "d"]), ("orderId",)),
        ([], ()),
    ],
)
def test_a_key_is_named_so_present_everywhere_and_unique(items: list[Json], keys: tuple[str, ...]) -> None:
    assert evident_keys("openOrders", [items]) == keys


def test_a_key_is_unique_within_each_list_of_its_place() -> None:
    assert evident_keys("l", [column(id=[1, 2]), column(id=[1, 3])]) == ("id",)
    assert evident_keys("l", [column(id=[1, 2]), column(id=[3, 3])]) == ()
    assert evident_keys("l", ["no list", None, column(id=[1])]) == ("id",)


@pytest.mark.parametrize(
    ("keys", "names", "label"),
    [
        ((), ["age", "Name"], "Name"),
        (("id",), ["id", "title"], "title"),
        ((), ["fileName", "productName"], "fileName"),
        (("id",), ["id", "age"], "id"),
        ((), ["age"], None),
    ],
)
def test_people_know_an_item_by_its_name(keys: tuple[str, ...], names: list[str], label: str | None) -> None:
    assert label_of(keys, names) == label
