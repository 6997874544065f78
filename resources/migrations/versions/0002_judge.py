"""Questions, calls and answers of judges, and a record of every scoring. The statements stand in the SQL file."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from resources.bulk import run_script

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of the judge's ledger and cache."""
    run_script(op.get_bind(), Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
