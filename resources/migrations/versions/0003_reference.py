"""What a reference is made of: its owner's part, edits, rejections. The statements stand in the SQL file."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from resources.bulk import run_script

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of the reference that improves itself."""
    run_script(op.get_bind(), Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
