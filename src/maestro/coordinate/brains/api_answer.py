"""What a model is asked for by its API. Apart, for pydantic is imported only with the brain `api`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ApiAnswer(BaseModel):
    """What to answer the worker."""

    model_config = ConfigDict(extra="forbid")

    answer: str = Field(
        description="What shall be typed: `Choose 2`, `Choose 1, 3`, or short words. Empty: no answer."
    )
    confidence: float = Field(description="From 0 to 1, that the human would give this very answer.")
    categories: list[str] = Field(
        min_length=1,
        description="Those of the listed categories that the question, an option or the answer touches; `none` where it touches none.",
    )
    canBeUndone: bool = Field(  # noqa: N815 - the field's name on the wire
        description="Whether all that the answer lets happen can be taken back without loss."
    )
    reasoning: str = Field(description="One or two sentences for the human.")
