"""A webhook receiver for Handback. Standard library only, Python 3.9 or newer.

HANDBACK_WEBHOOK_SECRET=... python3 receiver.py [port] [database]
"""

import hashlib
import hmac
import json
import os
import sqlite3
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("HANDBACK_WEBHOOK_SECRET", "").encode()
if not SECRET:
    sys.exit("Set HANDBACK_WEBHOOK_SECRET to the webhook secret of your API client.")
PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
DATABASE = sys.argv[2] if len(sys.argv) > 2 else "inbox.sqlite"
MOST_BYTES = 1024 * 1024

arrived = threading.Event()


def open_inbox() -> sqlite3.Connection:
    inbox = sqlite3.connect(DATABASE, timeout=5)
    # The three are signed, as headers are not, and no two events share them.
    inbox.execute(
        "create table if not exists inbox (event text, subject text, timestamp text, body text not null, "
        "done integer not null default 0, primary key (event, subject, timestamp))"
    )
    return inbox


def is_genuine(body: bytes, signature: str) -> bool:
    expected = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def keep(body: bytes) -> None:
    """Writes the event down, once: a delivery that comes again is the same event of the same return at the same time."""
    event = json.loads(body)
    key = [str(part) for part in (event["event"], event["data"]["id"], event["timestamp"])]
    inbox = open_inbox()
    try:
        with inbox:
            inbox.execute("insert or ignore into inbox values (?, ?, ?, ?, 0)", (*key, body.decode()))
    finally:
        inbox.close()


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return self.answer(413)
        # The bytes as they came: a body that was parsed and written again may differ from the one that was signed.
        try:
            body = self.rfile.read(int(length))
        except OSError:
            body = b""
        if len(body) < int(length):
            # The caller hung up, or was too slow.
            self.close_connection = True
            return
        if not is_genuine(body, self.headers.get("X-Webhook-Signature", "")):
            return self.answer(401)
        try:
            keep(body)
        except (ValueError, KeyError, TypeError):
            # Signed, and no event.
            return self.answer(400)
        # It is on disk, so it can be acknowledged; the work comes after the answer.
        self.answer(204)
        arrived.set()

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def handle(event: dict) -> None:
    """Your own work. It may run twice for one event if the program dies in between."""
    data = event["data"]
    print(event["event"], data["rmaNumber"], data.get("status"), flush=True)


def work() -> None:
    inbox = open_inbox()
    while True:
        arrived.clear()
        waiting = inbox.execute("select rowid, body from inbox where done = 0 order by rowid").fetchall()
        for row, body in waiting:
            try:
                handle(json.loads(body))
            except Exception:
                # It stays in the inbox and is tried again; the others go on.
                traceback.print_exc()
                continue
            with inbox:
                inbox.execute("update inbox set done = 1 where rowid = ?", (row,))
        arrived.wait(timeout=5)


if __name__ == "__main__":
    open_inbox().close()
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    threading.Thread(target=work, daemon=True).start()
    print(f"Listening on http://127.0.0.1:{PORT}", flush=True)
    server.serve_forever()
