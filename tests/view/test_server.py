"""The server gives out the page and the logs, to whoever has the token, and nothing else."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from made_logs import append, end, frame, header, write

import systola
from processes import begin
from processes import end as end_process
from systola.errors import InputError
from systola.view import server as serving
from systola.view.logs import MOST_LOGS, Logs, logs_to_watch
from systola.view.server import PageServer

TOKEN = "a-token-that-tests-know"
PAGE = Path(systola.__file__).parent / "view" / "page"


@pytest.fixture
def log(tmp_path):
    return write(tmp_path / "run.log", header(), frame(0.5, 40), frame(1.0, 41))


@pytest.fixture
def server(log):
    with PageServer(Logs([log]), token=TOKEN) as server:
        yield server


def ask(server, path, method="GET", host=None, **headers):
    """Status, headers and body; the path is sent as it is."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True)
        for value in [parts.netloc] if host is None else host if isinstance(host, list) else [host]:
            connection.putheader("Host", value)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


class Viewer:
    """What a browser's EventSource would get."""

    def __init__(self, server, last_id=""):
        parts = urlsplit(server.url)
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
        self._connection.request("GET", f"{parts.path}events", headers={"Last-Event-ID": last_id} if last_id else {})
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        self.last_id = last_id

    def next(self) -> tuple[str, Any]:
        """Kind and data of the next event."""
        fields: dict[str, str] = {}
        while True:
            line = self._answer.readline().decode()
            assert line, "the stream has ended"
            if line == "\n":
                if "data" in fields:
                    self.last_id = fields.get("id", self.last_id)
                    return fields.get("event", "message"), json.loads(fields["data"] or "null")
                fields = {}
            else:
                name, _, value = line.rstrip("\n").partition(":")
                fields[name] = value.removeprefix(" ")

    def news(self) -> dict[str, Any]:
        """Of the one log that the next event tells of."""
        kind, told = self.next()
        assert (kind, len(told)) == ("news", 1)
        return told[0]

    def close(self):
        self._connection.close()
        self._answer.close()


@pytest.fixture
def view(server):
    opened = []

    def view(last_id="", at=None):
        opened.append(Viewer(at or server, last_id))
        return opened[-1]

    yield view
    for viewer in opened:
        viewer.close()


def test_the_page_and_all_that_it_needs(server):
    status, headers, body = ask(server, f"/{TOKEN}/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert body == (PAGE / "index.html").read_bytes()
    for name in os.listdir(PAGE):
        assert ask(server, f"/{TOKEN}/{name}")[0] == 200, name
    named = re.findall(r'(?:src|href)="([^"#]+)"', body.decode())
    assert {"watch.js", "style.css"} <= set(named)
    for name in named:
        assert (PAGE / name).is_file(), name


@pytest.mark.parametrize("name", ["", "watch.js", "style.css", "events", "nothing"])
def test_headers_of_every_answer(server, name):
    _, headers, _ = ask(server, f"/{TOKEN}/{name}", "HEAD")
    policy = headers["Content-Security-Policy"]
    for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Server"].strip() == "systola"


@pytest.mark.parametrize(
    "path",
    ["/", "/events", "/watch.js", "/?token=x", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", f"/{TOKEN.upper()}/", "*"],
)
def test_without_the_token_nothing_is_given_out(server, path):
    status, headers, body = ask(server, path)
    assert status == 403
    assert b"whole address" in body
    assert "Content-Security-Policy" in headers


@pytest.mark.parametrize(
    "path", ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "/etc/passwd", "run.log", "./index.html", "", "x/y"]
)
def test_no_other_file_can_be_reached(server, path, log):
    for tried in (f"/{TOKEN}/{path}/", f"/{TOKEN}//{path}", f"/{TOKEN}/{path}%00.js", f"/{TOKEN}/{log}"):
        assert ask(server, tried)[0] == 404, tried


def test_a_query_changes_nothing_and_a_missing_slash_is_added(server):
    assert ask(server, f"/{TOKEN}/?file=/etc/passwd")[0] == 200
    status, headers, _ = ask(server, f"/{TOKEN}")
    assert (status, headers["Location"]) == (308, f"/{TOKEN}/")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.com", "", "127.0.0.1@evil", []])
def test_requests_for_other_hosts_are_refused(server, host):
    status, _, body = ask(server, f"/{TOKEN}/", host=host)
    assert status == 403
    assert b"own name" in body


def test_two_hosts_are_none(server):
    assert ask(server, f"/{TOKEN}/", host=["localhost", "localhost"])[0] == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9000", "[::1]:80", "localhost."])
def test_names_of_this_machine(server, host):
    """Also through a tunnel, where the port is another one."""
    assert ask(server, f"/{TOKEN}/", host=host)[0] == 200


def test_a_server_that_is_open_answers_to_addresses_but_not_to_names(log):
    with PageServer(Logs([log]), "0.0.0.0", token=TOKEN) as server:
        assert server.is_open
        assert f"//{socket.gethostname()}:" in server.url
        port = urlsplit(server.url).port
        local = PageServer.__new__(PageServer)
        local.url = f"http://127.0.0.1:{port}/{TOKEN}/"
        for host, status in (("192.168.1.7", 200), (socket.gethostname(), 200), ("evil.example", 403)):
            assert ask(local, f"/{TOKEN}/", host=host)[0] == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_only_get_and_head(server, method):
    status, headers, _ = ask(server, f"/{TOKEN}/", method)
    assert status in (405, 501)
    assert headers["Allow"] == "GET, HEAD"
    assert "Access-Control-Allow-Origin" not in headers


def test_head_has_no_body(server):
    for name in ("", "events", "nothing"):
        assert ask(server, f"/{TOKEN}/{name}", "HEAD")[2] == b""


def test_tokens_are_random_and_long(log):
    tokens = set()
    for _ in range(3):
        with PageServer(Logs([log])) as server:
            tokens.add(urlsplit(server.url).path)
    assert len(tokens) == 3
    assert min(map(len, tokens)) >= 32
    for token in ("short", "x" * 20 + "/", "x" * 20 + "\n"):
        with pytest.raises(InputError, match="16 to 128"):
            PageServer(Logs([log]), token=token)


def test_what_a_request_says_is_not_repeated(server):
    parts = urlsplit(server.url)
    for sent in (b"GET /<script>alert(1)</script> HTTP/9.9\r\n\r\n", b"<script> <b> <i> <u>\r\n\r\n"):
        with socket.create_connection((parts.hostname, parts.port), timeout=10) as line:
            line.sendall(sent)
            assert b"<" not in line.recv(4096)


def test_a_log_is_told_and_then_what_is_appended(view, log):
    viewer = view()
    told = viewer.news()
    assert (told["anew"], told["name"]) == (True, str(log))
    assert [entry["kind"] for entry in told["entries"]] == ["header", "frame", "frame"]
    assert 0 <= told["age"] < 60
    append(log, frame(1.5, 42))
    told = viewer.news()
    assert "anew" not in told
    assert [entry["best"] for entry in told["entries"]] == [[42]]


def test_a_log_that_was_thinned_is_told_anew(view, log, tmp_path):
    viewer = view()
    viewer.news()
    os.replace(write(tmp_path / "other", header(), frame(1.0, 41), frame(1.5, 42)), log)
    told = viewer.news()
    assert told["anew"]
    assert len(told["entries"]) == 3


def test_reconnecting_goes_on_where_it_was(view, log):
    viewer = view()
    viewer.news()
    viewer.close()
    append(log, frame(1.5, 42))
    told = view(viewer.last_id).news()
    assert "anew" not in told
    assert [entry["seconds"] for entry in told["entries"]] == [1.5]


def test_reconnecting_to_a_server_that_was_started_anew(log, tmp_path):
    with PageServer(Logs([log]), token=TOKEN) as first:
        viewer = Viewer(first)
        viewer.news()
        port = urlsplit(first.url).port
    assert viewer.next()[0] == "bye"
    append(log, frame(1.5, 42))
    with PageServer(Logs([log]), port=port, token=TOKEN) as second:
        assert second.url == first.url
        told = Viewer(second, viewer.last_id).news()
        assert [entry["seconds"] for entry in told["entries"]] == [1.5]
        os.replace(write(tmp_path / "other", header(), frame(9.0, 41)), log)
        assert Viewer(second, viewer.last_id).news()["anew"]


@pytest.mark.parametrize("last_id", ["x", "0" * 16, f"{'0' * 16}=1.1.1", f"{'0' * 16}=", ",", "=" * 3, "9" * 60_000])
def test_any_last_event_id_is_survived(view, last_id):
    kind, told = view(last_id).next()
    assert kind == "news"
    assert len(next(news for news in told if news.get("anew"))["entries"]) == 3


def test_the_end_of_a_run_is_told_before_the_server_ends(log):
    server = PageServer(Logs([log]), token=TOKEN).start()
    viewer = Viewer(server)
    viewer.news()
    append(log, end(2.0, 43))
    server.close()
    assert viewer.news()["entries"][0]["kind"] == "end"
    assert viewer.next()[0] == "bye"


def test_a_damaged_log_is_a_sentence_and_the_others_go_on(tmp_path, log):
    cut = write(tmp_path / "cut.log", header(), frame(1.0, 7))
    with cut.open("a") as file:
        file.write("<b>nonsense</b>\n")
    huge = tmp_path / "huge.log"
    with huge.open("wb") as file:
        file.truncate(2**30)
    missing, none = tmp_path / "missing.log", write(tmp_path / "none.log", {"kind": "nothing"})
    os.mkfifo(tmp_path / "pipe")
    paths = [cut, huge, missing, none, tmp_path / "pipe", log]
    with PageServer(Logs(paths), token=TOKEN) as server:
        viewer = Viewer(server)
        told = {news["name"]: news for news in viewer.next()[1]}
        assert len(told[str(log)]["entries"]) == 3
        assert len(told[str(cut)]["entries"]) == 2
        assert "at most 64 MB" in told[str(huge)]["trouble"]
        assert "no log of systola" in told[str(none)]["trouble"]
        assert "regular file" in told[str(tmp_path / "pipe")]["trouble"]
        assert "trouble" not in told[str(missing)]
        assert "line 3" in viewer.news()["trouble"]
        append(cut, frame(2.0, 8))  # still the same damage
        write(missing, header(), frame(1.0, 9))
        assert len(viewer.news()["entries"]) == 2
        os.replace(write(tmp_path / "other", header(), frame(3.0, 8)), cut)
        told = viewer.news()
        assert told["anew"]
        assert [entry.get("seconds") for entry in told["entries"]] == [None, 3.0]


def test_lines_cannot_break_out_of_an_event(view, log):
    viewer = view()
    viewer.news()
    line = json.dumps(frame(1.5, 42, stage="\r\nevent: bye\n\n\u2028<script>"))
    with log.open("a", newline="") as file:
        file.write(line.replace(", ", ",\r") + "\n")
    assert viewer.news()["entries"][0]["stage"].endswith("<script>")


def test_a_long_log_comes_in_pieces(view, log):
    append(log, *(frame(2 + k / 4, 42, stage="s" * 10_000) for k in range(120)))
    viewer, count, pieces = view(), 0, 0
    while count < 123:
        count += len(viewer.news()["entries"])
        pieces += 1
    assert pieces == 3


def test_a_folder_has_all_its_logs_and_those_that_come_later(tmp_path):
    write(tmp_path / "a.log", header())
    write(tmp_path / ".hidden", header())
    (tmp_path / "secret.txt").write_text("a password\n")
    (tmp_path / "within").mkdir()
    with PageServer(Logs([tmp_path]), token=TOKEN) as server:
        viewer = Viewer(server)
        assert viewer.news()["name"] == str(tmp_path / "a.log")
        write(tmp_path / "b.json", header())
        assert viewer.news()["name"] == str(tmp_path / "b.json")
        (tmp_path / "a.log").unlink()
        assert viewer.news()["gone"]


def test_of_a_folder_with_too_many_logs_the_newest_are_shown(tmp_path):
    for k in range(MOST_LOGS + 2):
        os.utime(write(tmp_path / f"{k:03}", header()), (k, k))
    assert [log.path.name for log in Logs([tmp_path]).find().values()][::63] == ["002", "065"]


def test_what_can_be_watched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no log in this folder"):
        logs_to_watch([])
    with pytest.raises(InputError, match=r"there is no log none\.log"):
        logs_to_watch(["none.log"])
    with pytest.raises(InputError, match="at most 64"):
        logs_to_watch([tmp_path] * 65)
    write(tmp_path / "a.log", header())
    assert [log.name for log in logs_to_watch([]).find().values()] == ["a.log"]


def test_viewers_are_bounded_and_those_who_leave_are_noticed(server, view, monkeypatch):
    monkeypatch.setattr(serving, "_MOST_VIEWERS", 2)
    monkeypatch.setattr(serving, "_BEAT_EVERY", 0.05)
    viewers = [view(), view()]
    assert ask(server, f"/{TOKEN}/events", "HEAD")[0] == 503
    for viewer in viewers:
        viewer.news()
        viewer.close()
    deadline = time.monotonic() + 10
    while ask(server, f"/{TOKEN}/events", "HEAD")[0] == 503:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_address_that_is_taken_is_a_sentence(server, log):
    with pytest.raises(InputError, match="cannot be served at 127"):
        PageServer(Logs([log]), port=urlsplit(server.url).port)
    for wrong in ({"port": 70_000}, {"host": "no such host"}):
        with pytest.raises(InputError, match=r"port|cannot be served"):
            PageServer(Logs([log]), **wrong)


def test_no_thread_is_left(log):
    before = threading.active_count()
    server = PageServer(Logs([log]), token=TOKEN).start()
    Viewer(server).news()
    server.close()
    deadline = time.monotonic() + 10
    while threading.active_count() > before:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_command_prints_its_address_and_ends_well(log, monkeypatch):
    process = begin("watch", log, "--no-browser", env={**os.environ, "SYSTOLA_WATCH_TOKEN": TOKEN})
    url = process.stdout.readline().strip()
    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/{TOKEN}/", url)
    shown = PageServer.__new__(PageServer)
    shown.url = url
    viewer = Viewer(shown)
    assert len(viewer.news()["entries"]) == 3
    code, out, err, _ = end_process(process, 2)
    assert (code, out, err) == (0, "", "")
    assert viewer.next()[0] == "bye"


def test_wrong_commands_are_sentences(run_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.log", header())
    for args in (["none.log"], ["a.log", "--port", "99999"], ["a.log", "--host", "no such host"]):
        code, out, err = run_command("watch", *args, "--no-browser")
        assert (code, out) == (2, "")
        assert err.startswith("systola: ")
        assert err.count("\n") == 1


def test_from_python(log):
    with systola.watch(log, browser=False) as page:
        assert len(Viewer(page).news()["entries"]) == 3
    page.close()
    with pytest.raises(InputError, match="must be a path"):
        systola.watch(3)
    with pytest.raises(InputError, match="at most 64"):
        systola.watch(*[log] * 65)
