from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest

from resources.warehouse import ReferenceOrigin, Warehouse
from scoring.errors import InputError
from scoring.records import Json
from tests.resources.stored_records import HOSTILE, filled, scenario_of

OWNER = ReferenceOrigin.OWNER_SAVE
ROUND = ReferenceOrigin.ROUND


def save(warehouse: Warehouse, content: Json, origin: ReferenceOrigin = OWNER, *, is_verified: bool = True) -> int:
    version = warehouse.save_reference("film", content, author="ann", origin=origin, is_verified=is_verified)
    return version.number


def test_each_version_keeps_its_whole_content_and_its_parent(warehouse: Warehouse) -> None:
    filled(warehouse)
    hostile: Json = {"a": [HOSTILE, {HOSTILE: None}], "big": 2**70, "real": 0.1}
    assert save(warehouse, hostile) == 2
    first, second = warehouse.reference_version("film", 1), warehouse.reference_version("film", 2)
    assert first.content == {"year": 1942}
    assert second.content == hostile
    assert second == warehouse.head_reference("film")
    assert (second.parent_id, second.author, second.origin) == (first.reference_version_id, "ann", OWNER)
    assert second.created_at.tzinfo is not None


def test_saving_the_same_content_again_is_no_version(warehouse: Warehouse) -> None:
    filled(warehouse)
    assert [save(warehouse, content) for content in ({"year": 1942}, {"year": 1942.0}, {"year": 1943})] == [1, 1, 2]
    assert save(warehouse, {"year": 1942}) == 3


def test_an_owner_who_saves_what_a_round_made_owns_it(warehouse: Warehouse) -> None:
    filled(warehouse)
    assert save(warehouse, {"year": 1943}, ROUND) == 2
    assert save(warehouse, {"year": 1943}) == 3
    head = warehouse.head_reference("film")
    assert head is not None
    assert head.origin is OWNER


def test_verifying_is_a_version_of_the_same_content_made_once(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of(reference_is_verified=False))
    draft = warehouse.head_reference("film")
    assert draft is not None
    assert not draft.is_verified
    verified = warehouse.verify_reference("film", "ann")
    assert (verified.number, verified.is_verified, verified.author) == (2, True, "ann")
    assert verified.content_hash == draft.content_hash
    assert warehouse.verify_reference("film", "bob") == verified


def test_a_version_or_reference_that_is_not_there_is_an_error_with_a_remedy(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of(reference=None))
    assert warehouse.head_reference("film") is None
    with pytest.raises(InputError, match="no reference to verify"):
        warehouse.verify_reference("film", "ann")
    with pytest.raises(InputError, match=r"no version 7.*assay reference log film"):
        warehouse.reference_version("film", 7)


def test_the_reference_file_is_a_version_each_time_it_changes(warehouse: Warehouse) -> None:
    film = scenario_of()
    for content in ({"year": 1942}, {"year": 1942}, {"year": 1943}, {"year": 1942}):
        warehouse.sync_scenarios([dataclasses.replace(film, reference=content)])
    head = warehouse.head_reference("film")
    assert head is not None
    assert (head.number, head.content, head.origin) == (3, {"year": 1942}, ReferenceOrigin.IMPORT)


def test_a_file_that_does_not_change_leaves_what_the_owner_saved_elsewhere(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of(reference_is_verified=False))
    save(warehouse, {"year": 1999}, is_verified=False)
    warehouse.sync_scenarios([scenario_of(reference_is_verified=True)])
    head = warehouse.head_reference("film")
    assert head is not None
    assert (head.number, head.content, head.is_verified) == (2, {"year": 1999}, False)


def test_a_file_that_its_owner_verifies_later_is_verified(warehouse: Warehouse) -> None:
    for is_verified in (False, True, True, False):
        warehouse.sync_scenarios([scenario_of(reference_is_verified=is_verified, reference_author="ann")])
    head = warehouse.head_reference("film")
    assert head is not None
    assert (head.number, head.is_verified, head.author) == (2, True, "ann")


def test_saves_at_the_same_time_get_numbers_of_their_own(warehouse: Warehouse) -> None:
    filled(warehouse)
    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(lambda year: save(warehouse, {"year": year}), range(8)))
    assert sorted(numbers) == list(range(2, 10))
