"""Dagster assets: read, call, write, describe."""
