"""An index for the newest call of each judge in a scenario. The statement stands in the SQL file."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from resources.bulk import run_script

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index that `assay.judge_kin` looks into."""
    run_script(op.get_bind(), Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
