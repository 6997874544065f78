"""Dagster sensors: what changed, and the requests that follow."""
