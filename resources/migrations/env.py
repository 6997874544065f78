"""Alembic's environment: it works on the connection and transaction that `migrate.upgrade` hands it."""

from __future__ import annotations

from alembic import context

from resources.tables import SCHEMA, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table_schema=SCHEMA,
    include_schemas=True,
    include_name=lambda name, kind, _: kind != "schema" or name == SCHEMA,
)
context.run_migrations()
