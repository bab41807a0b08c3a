"""Leaves of a piece of Python what it does: texts that it only computes with are no deeds. Pure."""

from __future__ import annotations

import ast
from typing import Final

_LONGEST: Final = 20_000
# What these are told is done: SQL, commands, addresses, files.
_TOLD: Final = frozenset(
    {"execute", "executemany", "executescript", "run", "system", "popen", "Popen", "call", "check_call", "check_output", "eval", "exec",
     "open", "urlopen", "urlretrieve", "get", "post", "put", "patch", "delete", "request", "query", "sql", "text", "raw", "read_sql",
     "connect", "getenv", "Path", "write_text", "import_module", "__import__", "command", "do", "cmd", "spawn", "create_engine", "client"}
)  # fmt: skip


def deeds_of(code: str) -> str:
    """Returns the code without texts that nothing is done with; as it is where it cannot be read."""
    if len(code) > _LONGEST:
        return code
    try:
        tree = ast.parse(code)
        return ast.unparse(_Deeds().visit(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code


class _Deeds(ast.NodeTransformer):
    def __init__(self) -> None:
        self._is_told = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        before, self._is_told = self._is_told, name in _TOLD
        node.args = [self.visit(one) for one in node.args]
        node.keywords = [self.visit(one) for one in node.keywords]
        self._is_told = before
        node.func = self.visit(node.func)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        # What a name stands for may be told to something later.
        before, self._is_told = self._is_told, True
        self.generic_visit(node)
        self._is_told = before
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        before, self._is_told = self._is_told, True
        self.generic_visit(node)
        self._is_told = before
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str) and not self._is_told and "://" not in node.value:
            return ast.copy_location(ast.Constant(""), node)
        return node
