"""How each API writes a reply: whole, as a stream of events, or as an error. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, ClassVar, Protocol

from tests.real.turns import Call, Failure, Reply, Text, Thinking

_PIECE = 24  # characters of text in one event
_numbers = count(1)


class Dialect(Protocol):
    def whole(self, reply: Reply, model: str) -> dict[str, Any]: ...
    def events(self, reply: Reply, model: str) -> Iterator[dict[str, Any]]: ...
    def is_piece(self, event: dict[str, Any]) -> bool:
        """Whether it holds a piece of the reply's text."""

    def failure(self, failure: Failure) -> dict[str, Any]: ...


def _new(kind: str) -> str:
    return f"{kind}_stub{next(_numbers):06}"


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)] or [""]


class Anthropic:
    """The Messages API."""

    _KINDS: ClassVar = {
        400: "invalid_request_error",
        401: "authentication_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        has_call = any(isinstance(block, Call) for block in reply.blocks)
        return {
            "id": _new("msg"), "type": "message", "role": "assistant", "model": model,
            "content": [self._block(block) for block in reply.blocks],
            "stop_reason": "tool_use" if has_call else "end_turn", "stop_sequence": None,
            "usage": {
                "input_tokens": reply.used.fresh, "output_tokens": reply.used.output,
                "cache_read_input_tokens": reply.used.cache_read,
                "cache_creation_input_tokens": reply.used.cache_write,
            },
        }  # fmt: skip

    @staticmethod
    def _block(block: Text | Thinking | Call) -> dict[str, Any]:
        if isinstance(block, Call):
            return {"type": "tool_use", "id": _new("toolu"), "name": block.tool, "input": block.arguments}
        if isinstance(block, Thinking):
            return {"type": "thinking", "thinking": block.text, "signature": "c3R1Yg=="}
        return {"type": "text", "text": block.text}

    def events(self, reply: Reply, model: str) -> Iterator[dict[str, Any]]:
        whole = self.whole(reply, model)
        begun = whole | {"content": [], "stop_reason": None, "usage": whole["usage"] | {"output_tokens": 1}}
        yield {"type": "message_start", "message": begun}
        for index, block in enumerate(whole["content"]):
            empty, deltas = self._streamed(block)
            yield {"type": "content_block_start", "index": index, "content_block": empty}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": ending, "usage": whole["usage"]}
        yield {"type": "message_stop"}

    @staticmethod
    def _streamed(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A block as it begins, and what is added to it."""
        if block["type"] == "tool_use":
            whole = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            return block | {"input": {}}, [whole]
        if block["type"] == "thinking":
            thought = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return block | {"thinking": "", "signature": ""}, [*thought, signed]
        return block | {"text": ""}, [
            {"type": "text_delta", "text": piece} for piece in _pieces(block["text"])
        ]

    def is_piece(self, event: dict[str, Any]) -> bool:
        return bool(event.get("delta", {}).get("type") == "text_delta")

    def failure(self, failure: Failure) -> dict[str, Any]:
        kind = failure.kind or self._KINDS.get(failure.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": failure.message}}


class OpenAI:
    """The Responses API."""

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        used = reply.used
        read = used.fresh + used.cache_read
        return {
            "id": _new("resp"), "object": "response", "created_at": 0, "model": model, "status": "completed",
            "output": [self._item(block) for block in reply.blocks],
            "usage": {
                "input_tokens": read, "input_tokens_details": {"cached_tokens": used.cache_read},
                "output_tokens": used.output, "output_tokens_details": {"reasoning_tokens": used.thinking},
                "total_tokens": read + used.output,
            },
        }  # fmt: skip

    @staticmethod
    def _item(block: Text | Thinking | Call) -> dict[str, Any]:
        if isinstance(block, Call):
            words = {"name": block.tool, "arguments": json.dumps(block.arguments), "status": "completed"}
            return {"type": "function_call", "id": _new("fc"), "call_id": _new("call")} | words
        if isinstance(block, Thinking):
            summary = [{"type": "summary_text", "text": block.text}]
            return {"type": "reasoning", "id": _new("rs"), "summary": summary, "encrypted_content": None}
        content = [{"type": "output_text", "text": block.text, "annotations": []}]
        return {
            "type": "message",
            "id": _new("msg"),
            "role": "assistant",
            "status": "completed",
            "content": content,
        }

    def events(self, reply: Reply, model: str) -> Iterator[dict[str, Any]]:
        whole = self.whole(reply, model)
        begun = {k: v for k, v in whole.items() if k != "usage"} | {"status": "in_progress", "output": []}
        order = count(1)
        for event in self._in_order(whole, begun):
            yield event | {"sequence_number": next(order)}

    def _in_order(self, whole: dict[str, Any], begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield {"type": "response.created", "response": begun}
        for index, item in enumerate(whole["output"]):
            place = {"item_id": item["id"], "output_index": index}
            yield {"type": "response.output_item.added", "output_index": index, "item": self._begun(item)}
            if item["type"] == "message":
                text = item["content"][0]["text"]
                part = {"type": "output_text", "text": "", "annotations": []}
                place |= {"content_index": 0}
                yield {"type": "response.content_part.added", **place, "part": part}
                for piece in _pieces(text):
                    yield {"type": "response.output_text.delta", **place, "delta": piece}
                yield {"type": "response.output_text.done", **place, "text": text}
            elif item["type"] == "reasoning":
                delta = {"summary_index": 0, "delta": item["summary"][0]["text"]}
                yield {"type": "response.reasoning_summary_text.delta", **place, **delta}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {"type": "response.completed", "response": whole}

    @staticmethod
    def _begun(item: dict[str, Any]) -> dict[str, Any]:
        empty: dict[str, dict[str, Any]] = {
            "message": {"status": "in_progress", "content": []},
            "reasoning": {"summary": []},
        }
        return item | empty.get(item["type"], {"status": "in_progress"})

    def is_piece(self, event: dict[str, Any]) -> bool:
        return bool(event["type"] == "response.output_text.delta")

    def failure(self, failure: Failure) -> dict[str, Any]:
        return {
            "error": {
                "message": failure.message,
                "type": failure.kind or "server_error",
                "code": failure.kind or None,
                **failure.more,
            }
        }


class Gemini:
    _KINDS: ClassVar = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        return self._chunk(reply, model, [self._part(block) for block in reply.blocks], finish="STOP")

    @staticmethod
    def _part(block: Text | Thinking | Call) -> dict[str, Any]:
        if isinstance(block, Call):
            wanted = {"name": block.tool, "args": block.arguments}
            return {"functionCall": wanted, "thoughtSignature": "c3R1Yg=="}
        if isinstance(block, Thinking):
            return {"text": block.text, "thought": True}
        return {"text": block.text}

    @staticmethod
    def _chunk(reply: Reply, model: str, parts: list[dict[str, Any]], finish: str = "") -> dict[str, Any]:
        used = reply.used
        read = used.fresh + used.cache_read
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return {
            "candidates": [candidate], "modelVersion": model, "responseId": _new("reply"),
            "usageMetadata": {
                "promptTokenCount": read, "cachedContentTokenCount": used.cache_read,
                "candidatesTokenCount": used.output, "thoughtsTokenCount": used.thinking,
                "totalTokenCount": read + used.output + used.thinking,
            },
        }  # fmt: skip

    def events(self, reply: Reply, model: str) -> Iterator[dict[str, Any]]:
        for block in reply.blocks:
            if isinstance(block, Text):
                for piece in _pieces(block.text):
                    yield self._chunk(reply, model, [{"text": piece}])
            else:
                yield self._chunk(reply, model, [self._part(block)])
        yield self._chunk(reply, model, [{"text": ""}], finish="STOP")

    def is_piece(self, event: dict[str, Any]) -> bool:
        part = event["candidates"][0]["content"]["parts"][0]
        return bool(part.get("text")) and not part.get("thought")

    def failure(self, failure: Failure) -> dict[str, Any]:
        kind = failure.kind or self._KINDS.get(failure.status, "INTERNAL")
        told = {"code": failure.status, "message": failure.message, "status": kind}
        return {"error": told | ({"details": failure.details} if failure.details else {})}
