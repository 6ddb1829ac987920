"""Opening a page in the browser of whoever sits at this machine."""

from __future__ import annotations

import os
import sys
import webbrowser


def open_browser(url: str) -> bool:
    """Whether there was a browser to open; never one inside the terminal, which progress and answers need."""
    windows = any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    if sys.platform.startswith("linux") and not windows:
        return False
    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False
