"""Adapters to the world outside: stores, models, files."""
