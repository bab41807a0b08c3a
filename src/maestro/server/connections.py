"""The daemon's connections: on the Unix socket the kernel says which process calls and for which user."""

from __future__ import annotations

import asyncio
import os
import socket

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from maestro import processes


class PeerCheckedProtocol(HttpToolsProtocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows the argument too
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is None or connection.family != socket.AF_UNIX:
            return
        peer = processes.peer_of(connection)
        if peer is None:
            # Nobody but the owner can open the socket: its folder is 0700.
            peer = (0, os.geteuid())
        pid, uid = peer
        if uid != os.geteuid():
            transport.abort()
            return
        self.app_state = {**self.app_state, "peer_pid": pid}
