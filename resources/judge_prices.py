"""What a judge costs, and how much of it a round may spend."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.records import Model

_LOOK_AGAIN_SECONDS = 0.02
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per million tokens."""

    input_usd_per_million: float
    output_usd_per_million: float

    def cost_usd(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost."""
        return (input_tokens * self.input_usd_per_million + output_tokens * self.output_usd_per_million) / _MILLION


def model_named(name: str, models: Sequence[Model]) -> Model | None:
    """The entry of models.yaml for a judge: the one of this id, else the only one of this name at its provider."""
    by_id = [model for model in models if model.model_id == name]
    found = by_id or [model for model in models if model.name == name]
    return found[0] if len(found) == 1 else None


def price_of(name: str, models: Sequence[Model]) -> Price | None:
    """The price of a judge; None where models.yaml does not know it, which never means free."""
    model = model_named(name, models)
    if model is None or model.input_usd_per_million is None or model.output_usd_per_million is None:
        return None
    return Price(input_usd_per_million=model.input_usd_per_million, output_usd_per_million=model.output_usd_per_million)


@dataclass(slots=True, kw_only=True)
class Spending:
    """What a round has spent on judges, and may. Without a limit everything is allowed.

    A request reserves the most that it can cost before it is sent, so that the limit is never passed.
    """

    limit_usd: float | None = None
    spent_usd: float = 0.0
    reserved_usd: float = 0.0

    async def reserve(self, most_usd: float) -> bool:
        """Whether the request may be sent; it is decided once what is in flight leaves no doubt."""
        if self.limit_usd is None:
            return True
        while self.spent_usd + self.reserved_usd + most_usd > self.limit_usd:
            if self.reserved_usd <= 0 or self.spent_usd + most_usd > self.limit_usd:
                return False
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        self.reserved_usd += most_usd
        return True

    def settle(self, most_usd: float, cost_usd: float | None) -> None:
        """The request that reserved so much cost this; where nobody can know, it cost all of it."""
        if self.limit_usd is not None:
            self.reserved_usd = max(0.0, self.reserved_usd - most_usd)
            self.spent_usd += most_usd if cost_usd is None else cost_usd
