"""`systola watch`: logs of runs on a page in the browser."""

from __future__ import annotations

import os
import threading

import click

from systola.cli.answer import note, show
from systola.run.signals import held_signals
from systola.view.browser import open_browser
from systola.view.logs import logs_to_watch
from systola.view.server import LOOPBACK, PageServer


@click.command()
@click.argument("logs", nargs=-1)
@click.option(
    "--host", default=LOOPBACK, show_default=True, help="Where to listen; 0.0.0.0 is for other machines, too."
)
@click.option("--port", type=int, default=0, help="Default: any that is free.")
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
def watch(logs: tuple[str, ...], host: str, port: int, no_browser: bool) -> None:
    """Watch runs, while they go on or afterwards: a page in the browser shows LOGS.

    LOGS are files that `systola solve --log` writes, or folders with such files; none means the current folder.
    Ctrl-C ends it.
    """
    server = PageServer(logs_to_watch(logs), host, port, os.environ.get("SYSTOLA_WATCH_TOKEN") or None)
    over = threading.Event()
    with held_signals(over.set) as interruption, server:
        if server.is_open:
            note("other machines can reach this page: whoever has its address sees the runs, and nothing is encrypted")
        show(server.url)
        if not no_browser and not open_browser(server.url):
            note("there is no browser to open here; open the address above in one")
        while not (over.wait(0.5) or interruption.asked):
            pass
