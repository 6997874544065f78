"""What tables are made of: one metadata, and columns that take their comments from the catalogue."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    Table,
    Text,
    func,
)
from sqlalchemy.types import TypeEngine

from resources.columns import grain_of, meaning_of

SCHEMA = "assay"
_NAMES = {
    "pk": "%(table_name)s_pkey",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "ck": "%(table_name)s_%(constraint_name)s_check",
}

metadata = MetaData(schema=SCHEMA, naming_convention=_NAMES)

_NOW = func.now()


def table(name: str, *parts: Any) -> Table:
    """A table whose comments stand in the catalogue. Raises KeyError where one is missing there."""
    made = Table(name, metadata, *parts, comment=grain_of(f"{SCHEMA}.{name}"))
    for column in made.columns:
        column.comment = meaning_of(column.name, f"{SCHEMA}.{name}")
    return made


def key(name: str, type_: TypeEngine[Any] | None = None) -> Column[Any]:
    """A column of the primary key."""
    return Column(name, type_ or Text(), primary_key=True)


def identity(name: str) -> Column[Any]:
    """A primary key that the database numbers."""
    return Column(name, BigInteger, Identity(always=True), primary_key=True)


def to(name: str, target: str, type_: TypeEngine[Any] | None = None, **options: Any) -> Column[Any]:
    """A foreign key; `target` is `table.column`."""
    options = {"nullable": False} | options
    return Column(name, type_ or Text(), ForeignKey(f"{SCHEMA}.{target}"), **options)


def text(name: str, *, nullable: bool = False) -> Column[Any]:
    """A text."""
    return Column(name, Text, nullable=nullable)


def number(name: str, *, nullable: bool = False) -> Column[Any]:
    """A double."""
    return Column(name, Double, nullable=nullable)


def count(name: str, *, nullable: bool = False) -> Column[Any]:
    """An integer."""
    return Column(name, Integer, nullable=nullable)


def flag(name: str) -> Column[Any]:
    """A boolean."""
    return Column(name, Boolean, nullable=False)


def time(name: str, *, nullable: bool = False) -> Column[Any]:
    """A time in UTC; now unless given, where it may not be null."""
    return Column(name, DateTime(timezone=True), nullable=nullable, server_default=None if nullable else _NOW)
