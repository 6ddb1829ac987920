"""The page from Python: notebooks and programs open it on logs that their runs write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from systola.errors import InputError
from systola.view.browser import open_browser
from systola.view.logs import MOST_LOGS, Logs

if TYPE_CHECKING:
    from systola.view.server import PageServer


def watch(*logs: str | Path, port: int = 0, browser: bool = True) -> PageServer:
    """Show runs on a page in the browser, from their logs; see docs/watch.md.

    Threads of this process serve it until `close` is called, or the process ends. They share the interpreter with
    whatever else it does: beside a run of hours, `systola watch` on a command line takes nothing from it.

    Parameters
    ----------
    *logs : path
        Files that `solve(log=...)` writes, or will write, and folders of them; none means the current folder.
    port : int
        Where it listens, on 127.0.0.1; 0 is any port that is free.
    browser : bool
        Whether to open it, if there is a browser.

    Returns
    -------
    PageServer
        With `url`, the address of the page, and `close()`; may be used in `with`.

    Examples
    --------
    >>> with sy.watch("run.log", browser=False) as page:
    ...     print(page.url.startswith("http://127.0.0.1:"))
    True
    """
    from systola.view.server import PageServer  # a web server, which few programs need

    for log in logs:
        if not isinstance(log, (str, Path)):
            raise InputError(f"a log must be a path, but got {log!r}")
    if len(logs) > MOST_LOGS:
        raise InputError(f"a page has at most {MOST_LOGS} logs, but got {len(logs)}; name fewer")
    server = PageServer(Logs(logs or [Path()]), port=port).start()
    if browser:
        open_browser(server.url)
    return server
