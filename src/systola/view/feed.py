"""What one viewer is sent: server-sent events, made of the lines of logs that the viewer does not have yet.

Each event carries an id that says how much of which log has been sent, so that a browser that lost its connection, even
to a server that was started anew meanwhile, goes on where it was.
"""

from __future__ import annotations

import json
import os
import re
import time
from typing import Any

from systola.errors import InputError
from systola.run.log_reading import LogReader
from systola.view.logs import Log, Logs

_MOST_BYTES = 2**19  # of one log in one event
_POSITIONS = re.compile(r"(?:[0-9a-f]{16}=[0-9a-f.]{1,60}(?:,|$))*")


class Feed:
    """The events for one viewer.

    Parameters
    ----------
    logs
        The logs of the page.
    last_id
        The id of the last event that the viewer has, from the header Last-Event-ID; may be anything.
    """

    def __init__(self, logs: Logs, last_id: str = "") -> None:
        self._logs = logs
        self._readers: dict[str, LogReader] = {}
        self._failed: dict[str, os.stat_result] = {}  # damaged logs, as they were then
        self._positions = dict(pair.split("=") for pair in _pairs_in(last_id))
        self._shown = set(self._positions)  # logs that the viewer knows

    def next_event(self) -> bytes | None:
        """The next event, as it goes over the line; None if there is nothing new."""
        logs = self._logs.find()
        news = [told for log in logs.values() if (told := self._news_of(log)) is not None]
        for key in self._shown - set(logs):
            self._forget(key)
            news.append({"log": key, "gone": True})
        self._shown = set(logs)
        if not news:
            return None
        text = json.dumps(news, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        place = ",".join(f"{key}={reader.position}" for key, reader in self._readers.items())
        return f"event: news\nid: {place}\ndata: {text}\n\n".encode("ascii")

    def _news_of(self, log: Log) -> dict[str, Any] | None:
        """What the viewer is to be told of a log; None if that is nothing."""
        told = _stat(log)
        failed = self._failed.get(log.key)
        if failed and told and told.st_ino == failed.st_ino and told.st_size >= failed.st_size:
            return None  # damaged, and still the same file
        self._failed.pop(log.key, None)
        is_new = log.key not in self._readers
        anew = False
        if is_new or failed:
            reader = self._readers[log.key] = LogReader(log.path)
            anew = not reader.resume("" if failed else self._positions.get(log.key, ""))
        reader = self._readers[log.key]
        entries: list[dict[str, Any]] = []
        news: dict[str, Any] = {"log": log.key}
        if told:
            try:
                entries = reader.read(_MOST_BYTES)
            except InputError as error:
                news["trouble"] = str(error)
                self._failed[log.key] = told
            anew |= reader.anew
        if not (entries or anew or "trouble" in news):
            return None
        if anew:
            news |= {"anew": True, "name": log.name}
        if entries:
            news["entries"] = entries
        if told:
            news["age"] = round(max(time.time() - told.st_mtime, 0.0), 1)
        return news

    def _forget(self, key: str) -> None:
        self._readers.pop(key, None)
        self._failed.pop(key, None)
        self._positions.pop(key, None)


def _pairs_in(last_id: str) -> list[str]:
    return last_id.split(",") if last_id and _POSITIONS.fullmatch(last_id) else []


def _stat(log: Log) -> os.stat_result | None:
    """What the system says of a file; None if it is not there."""
    try:
        return log.path.stat()
    except (OSError, ValueError):
        return None
