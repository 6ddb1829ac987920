"""An HTML page as a test sees it: elements that must close, texts, and whatever it would fetch."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}
FETCHING = ("src", "srcset", "href", "xlink:href", "action", "poster", "data", "background")


class Page(HTMLParser):
    """Reads a page; fails if an element is not closed where it must be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without its beginning"
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of this kind."""
        return [attrs for name, attrs in self.tags if name == tag]

    def fetched(self) -> list[str]:
        """What a browser would ask others for."""
        found = [v or "" for _, attrs in self.tags for k, v in attrs.items() if k in FETCHING]
        return [value for value in found if not value.startswith(("#", "data:image/png;base64,"))]

    def ids(self) -> list[str]:
        """All names of elements."""
        return [attrs["id"] or "" for _, attrs in self.tags if "id" in attrs]

    @property
    def text(self) -> str:
        """What a reader sees."""
        return " ".join(" ".join(self.words).split())
