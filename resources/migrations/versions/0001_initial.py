"""The first tables. The statements stand in the SQL file beside this one."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from resources.bulk import run_script

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables of the first release."""
    run_script(op.get_bind(), Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
