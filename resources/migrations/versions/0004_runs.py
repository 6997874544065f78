"""Who is making which run right now. The statements stand in the SQL file."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from resources.bulk import run_script

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table that keeps two processes from paying for one repetition."""
    run_script(op.get_bind(), Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
