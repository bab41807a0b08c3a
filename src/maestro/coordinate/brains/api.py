"""One call of a model by its API, without tools, that assesses one case. Needs the extra `maestro[api]`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from maestro.agents.headless import ModelUsage
from maestro.coordinate import Assessment, BrainSettings, Case, Policy, Spent
from maestro.coordinate.assessment import failed, parse_assessment
from maestro.coordinate.brief import Brief, brief
from maestro.dispatch.prices import priced
from maestro.errors import InvalidInput
from maestro.home import locate
from maestro.observe.stats import load_prices
from maestro.redact import MARK

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RunUsage

_NAME: Final = "api"
_RETRIES: Final = 1  # after an answer of another shape, and after an error of the API
# The variables that hold a provider's key, where the policy names none.
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
# The libraries of the providers take what an API sends for what it should send.
_UNCHECKED: Final = (AssertionError, AttributeError, LookupError, TypeError, ValueError)


class _Failure(NamedTuple):
    why: str


class ApiBrain:
    name: str = _NAME

    def __init__(self, settings: BrainSettings, env: Mapping[str, str]) -> None:
        self._settings = settings
        self._env = env
        self._price = load_prices(env, Path(locate(env).root)).of(settings.model)

    async def assess(self, case: Case, policy: Policy) -> Assessment:
        try:
            import pydantic_ai  # noqa: F401 - whether it is there
            from pydantic_ai.usage import RunUsage
        except ImportError:
            return failed(_NAME, "The brain api needs more packages. Install maestro[api].")
        try:
            key = self._key()
        except InvalidInput as error:
            return failed(_NAME, error.message)
        usage, begun = RunUsage(), time.monotonic()
        told = await self._ask(brief(case, policy), key, usage)
        spent = self._spent(usage, time.monotonic() - begun)
        if isinstance(told, _Failure):
            return failed(_NAME, told.why.replace(key, MARK), spent)
        return parse_assessment(told, _NAME, case, spent)

    def _key(self) -> str:
        settings = self._settings
        if settings.provider not in _KEYS:
            raise InvalidInput(f"brain.provider must be one of {', '.join(_KEYS)}.")
        if not settings.model:
            raise InvalidInput("brain.model must name a model.")
        names = (settings.api_key_env,) if settings.api_key_env else _KEYS[settings.provider]
        key = next((self._env[name] for name in names if self._env.get(name)), "")
        if not key:
            raise InvalidInput(f"The variable {' or '.join(names)} must hold the key of the API.")
        return key

    async def _ask(self, told: Brief, key: str, usage: RunUsage) -> str | _Failure:
        """What the model answered, as JSON."""
        from pydantic_ai import Agent, UsageLimits
        from pydantic_ai.exceptions import AgentRunError, UserError

        from maestro.coordinate.brains.api_answer import ApiAnswer

        seconds = self._settings.timeout
        try:
            async with asyncio.timeout(seconds), _model(self._settings, key) as model:
                agent = Agent(
                    model,
                    output_type=ApiAnswer,
                    instructions=told.system,
                    retries=_RETRIES,
                    model_settings={"max_tokens": self._settings.max_tokens},
                )
                limits = UsageLimits(request_limit=1 + _RETRIES)
                answer = await agent.run(told.user, usage=usage, usage_limits=limits)
                return answer.output.model_dump_json()
        except TimeoutError:
            return _Failure(f"The API did not answer within {seconds} s.")
        except (AgentRunError, UserError) as error:
            return _Failure(f"The API did not give an answer: {error}")
        except _UNCHECKED as error:
            return _Failure(f"The API did not give an answer that can be read: {error!r}")

    def _spent(self, usage: RunUsage, seconds: float) -> Spent:
        cached, written = usage.cache_read_tokens, usage.cache_write_tokens
        counted = ModelUsage(
            self._settings.model,
            input=max(0, usage.input_tokens - cached - written),
            output=usage.output_tokens,
            cached=cached,
            cache_write=written,
        )
        cost = priced(counted, self._price).cost_usd if self._price else None
        return Spent(
            calls=max(1, usage.requests),
            tokens=usage.input_tokens + usage.output_tokens,
            cost_usd=cost or 0.0,
            milliseconds=int(seconds * 1000),
        )


@asynccontextmanager
async def _model(settings: BrainSettings, key: str) -> AsyncIterator[Model]:
    """The model with a client of its own, which is closed with it: a loop that runs for days keeps none open."""
    url = settings.base_url or None
    if settings.provider == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        async with AsyncAnthropic(api_key=key, base_url=url, max_retries=_RETRIES) as client:
            yield AnthropicModel(settings.model, provider=AnthropicProvider(anthropic_client=client))
    elif settings.provider == "openai":
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        async with AsyncOpenAI(api_key=key, base_url=url, max_retries=_RETRIES) as opened:
            yield OpenAIChatModel(settings.model, provider=OpenAIProvider(openai_client=opened))
    else:
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        options = HttpOptions(base_url=url, retry_options=HttpRetryOptions(attempts=1 + _RETRIES))
        google = Client(vertexai=False, api_key=key, http_options=options)
        try:
            yield GoogleModel(settings.model, provider=GoogleProvider(client=google))
        finally:
            await google.aio.aclose()
            google.close()
