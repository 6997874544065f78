"""The lake on `s3://`, through pyarrow and real HTTP, with a server that breaks down in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from resources.lake import Lake
from scoring.errors import InputError
from tests.s3_server import Door, Fault, s3_server

NOW = timedelta(0)
BUCKET = "bucket"
TABLE = pa.table({"text": ["x", "y"], "number": [1.5, 2.5]})


@pytest.fixture(scope="module")
def server() -> Iterator[Door]:
    """One server for the tests of this file, in this process: any number of them run side by side."""
    with pytest.MonkeyPatch.context() as patch, s3_server() as door:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        options = {"endpoint_override": host_of(door), "scheme": "http", "region": "eu-west-1"}
        pafs.S3FileSystem(**options, allow_bucket_creation=True).create_dir(BUCKET)
        yield door


KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture
def door(server: Door) -> Iterator[Door]:
    yield server
    server.fault = None


def host_of(door: Door) -> str:
    return f"127.0.0.1:{door.server_address[1]}"


def options_of(door: Door) -> str:
    return f"?endpoint_override={host_of(door)}&scheme=http&region=eu-west-1"


@pytest.fixture
def lake(door: Door, request: pytest.FixtureRequest) -> Lake:
    """An empty lake: each test has a prefix of its own."""
    prefix = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    return Lake(f"s3://{BUCKET}/{prefix}/lake{options_of(door)}")


def test_what_was_written_is_read_listed_and_swept(lake: Lake) -> None:
    kept = lake.write("runs", {"scenario": "a/b:c", "model": "lab/m"}, TABLE)
    orphan = lake.write("field_scores", {"scenario": "x"}, TABLE.slice(1))
    assert lake.read(kept) == TABLE
    assert lake.read(kept, columns=["number"]).column_names == ["number"]
    assert lake.files() == sorted([kept, orphan])
    assert lake.files("runs") == [kept]
    assert lake.sweep({kept}) == []
    assert lake.sweep({kept}, older_than=NOW) == [orphan]
    assert lake.files() == [kept]


def test_ids_of_any_characters_have_a_place(lake: Lake) -> None:
    names = [lake.write("runs", {"scenario": id_}, TABLE) for id_ in ("a b", "a+b", "a%b", "ü", "a=b", "a?b#c")]
    assert len(set(names)) == 6
    assert lake.files() == sorted(names)
    assert all(lake.read(name) == TABLE for name in names)


def test_an_empty_lake_has_no_files(lake: Lake) -> None:
    assert lake.files() == []


def test_a_file_that_is_gone_is_named(lake: Lake) -> None:
    with pytest.raises(InputError, match=r"the lake has lost runs/none.parquet, which a row in Postgres names"):
        lake.read("runs/none.parquet")


def test_the_endpoint_and_region_may_come_from_the_environment(
    door: Door, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = lake.write("runs", {"scenario": "x"}, TABLE)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host_of(door)}")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert Lake(lake.root.partition("?")[0]).read(name) == TABLE


def test_an_error_that_passes_is_not_noticed(door: Door, lake: Lake) -> None:
    left = [2]

    def twice(request: object) -> bool:
        left[0] -= 1
        return left[0] >= 0 and request.refuse(503, "SlowDown")  # type: ignore[attr-defined, no-any-return]

    door.fault = twice
    assert lake.read(lake.write("runs", {"scenario": "x"}, TABLE)) == TABLE
    assert left[0] < 0


def big_table() -> pa.Table:
    """More than one part of an upload."""
    return pa.table({"number": np.random.default_rng(1).random(1_500_000)})


BREAKDOWNS: dict[str, tuple[pa.Table, Fault]] = {
    "an internal error for ever": (TABLE, lambda request: request.refuse(500, "InternalError")),
    "a connection that is reset before the body": (TABLE, lambda request: request.hang_up(0)),
    "a connection that is reset in the body": (TABLE, lambda request: request.hang_up(200)),
    "the second part of a large file": (
        big_table(),
        lambda request: "partNumber=2" in request.path and request.refuse(500, "InternalError"),
    ),
    "the last word on a large file": (
        big_table(),
        lambda request: request.command == "POST" and "uploadId" in request.path and request.refuse(500, "Internal"),
    ),
}


@pytest.mark.parametrize("name", BREAKDOWNS)
def test_a_breakdown_in_the_middle_of_a_write_leaves_nothing_half_and_loses_nothing(
    name: str, door: Door, lake: Lake
) -> None:
    table, fault = BREAKDOWNS[name]
    before = lake.write("runs", {"scenario": "before"}, TABLE)
    door.fault = lambda request: request.command in ("PUT", "POST") and fault(request)
    with pytest.raises((OSError, InputError)):
        lake.write("runs", {"scenario": "x"}, table)
    door.fault = None
    assert lake.files() == [before]
    assert lake.read(before) == TABLE
    after = lake.write("runs", {"scenario": "x"}, table)
    assert lake.read(after) == table
    assert lake.sweep({before, after}, older_than=NOW) == []


@pytest.mark.parametrize(
    ("status", "code", "found", "remedy"),
    [
        (403, "InvalidAccessKeyId", "the object store does not know these keys", "AWS_ACCESS_KEY_ID"),
        (403, "SignatureDoesNotMatch", "the secret key is not this key's", "AWS_SECRET_ACCESS_KEY"),
        (403, "AccessDenied", "the object store refuses these keys", "list, read, write and delete"),
        (404, "NoSuchBucket", "the bucket does not exist", "Create it, or correct ASSAY_LAKE"),
    ],
)
def test_what_a_person_can_mend_says_what_to_do_and_repeats_no_key(
    status: int, code: str, found: str, remedy: str, door: Door, lake: Lake
) -> None:
    door.fault = lambda request: request.refuse(status, code)
    with pytest.raises(InputError, match=found) as raised:
        lake.write("runs", {"scenario": "x"}, TABLE)
    assert remedy in str(raised.value)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_keys_that_may_not_read_say_so_at_every_verb(door: Door, lake: Lake) -> None:
    name = lake.write("runs", {"scenario": "x"}, TABLE)
    door.fault = lambda request: request.refuse(403, "AccessDenied")
    for verb in (lambda: lake.read(name), lake.files, lambda: lake.sweep(set(), older_than=NOW)):
        with pytest.raises(InputError, match="the object store refuses these keys"):
            verb()  # type: ignore[operator]  # typed as object in the table


def test_keys_that_may_not_delete_lose_nothing(door: Door, lake: Lake) -> None:
    orphan = lake.write("runs", {"scenario": "x"}, TABLE)
    door.fault = lambda request: request.command == "DELETE" and request.refuse(403, "AccessDenied")
    with pytest.raises(InputError, match="the object store refuses these keys"):
        lake.sweep(set(), older_than=NOW)
    assert lake.files() == [orphan]


def test_a_bucket_that_does_not_exist_is_told_by_the_server_itself(door: Door) -> None:
    with pytest.raises(InputError, match="s3://other-bucket/lake: the bucket does not exist"):
        Lake(f"s3://other-bucket/lake{options_of(door)}").write("runs", {"scenario": "x"}, TABLE)


def test_a_store_that_is_not_there_says_where_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    lake = Lake("s3://bucket/lake?endpoint_override=127.0.0.1:9&scheme=http&region=eu-west-1")
    with pytest.raises(InputError, match="the object store does not answer") as raised:
        lake.write("runs", {"scenario": "x"}, TABLE)
    assert "AWS_ENDPOINT_URL" in str(raised.value)
