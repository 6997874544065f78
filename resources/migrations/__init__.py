"""Alembic's migrations of schema `assay`."""
