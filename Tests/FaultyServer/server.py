"""Web servers on the loopback interface, each for a folder, with the fault that the first part of a path names.

The line "serve FOLDER" on standard input starts a server and prints its port, "stop PORT" ends it. "serve-tls FOLDER"
starts one over TLS, with a new certificate at .cert.pem in the folder. The file .log in the folder has a line of JSON
for each request.
"""
import email.utils
import hashlib
import http.server
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

PIECE = 1 << 14
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        self.query = {key: values[-1] for key, values in urllib.parse.parse_qs(parts.query).items()}
        fault, _, name = parts.path.lstrip("/").partition("/")
        with lock, open(self.server.root / ".log", "a", encoding="utf-8") as log:
            earlier = self.server.paths.count(parts.path)
            self.server.paths.append(parts.path)
            print(json.dumps({
                "path": parts.path, "host": self.headers["Host"], "range": self.headers["Range"],
                "authorization": self.headers["Authorization"], "condition": self.headers["If-None-Match"]}), file=log)
        serve = getattr(self, "serve_" + fault.replace("-", "_"), None)
        try:
            if serve:
                serve(name, earlier)
            elif "/resolve/" in name:
                self.resolve(fault + "/" + name)
            else:
                self.fail(404)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer(self, body, kind, status=200, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status):
        self.answer(b"no\n", "text/plain", status)

    def file(self, name, *, most=None, length=None, ranges=True, pause=0, stall=0, marked=True):
        """Serves a file: `most` bytes of it before the connection ends, `length` more than its true length claimed, a
        pause after each piece, or a stall after `most` bytes."""
        path = self.server.root / name
        if not path.is_file():
            return self.fail(404)
        body = path.read_bytes()
        mark = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
        if marked and self.headers["If-None-Match"] == mark:
            self.send_response(304)
            self.end_headers()
            return None
        start, wanted = 0, self.headers["Range"]
        if ranges and wanted and self.headers["If-Range"] == mark:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                return self.fail(416)
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body) - start + (length or 0)))
        if marked:
            self.send_header("ETag", mark)
            self.send_header("Last-Modified", email.utils.formatdate(1e9, usegmt=True))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        end = len(body) if most is None else min(len(body), start + most)
        if length and length < 0:
            end = min(end, len(body) + length)
        for place in range(start, end, PIECE):
            self.wfile.write(body[place:min(end, place + PIECE)])
            time.sleep(pause)
        if stall:
            self.wfile.flush()
            time.sleep(stall)
        if end < len(body) or length:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        return None

    def serve_plain(self, name, _):
        self.file(name)

    def serve_unmarked(self, name, _):
        self.file(name, marked=False)

    def serve_slow(self, name, _):
        self.file(name, pause=float(self.query.get("pause", 0.004)))

    def serve_break(self, name, _):
        self.file(name, most=int(self.query["after"]))

    def serve_break_once(self, name, earlier):
        self.file(name, most=None if earlier else int(self.query["after"]))

    def serve_no_ranges(self, name, earlier):
        self.file(name, most=None if earlier else int(self.query["after"]), ranges=False)

    def serve_changing(self, name, earlier):
        first, second = name.split("/")
        self.file(second if earlier else first, most=None if earlier else int(self.query["after"]))

    def serve_versions(self, name, earlier):
        self.file(name.split("/")[min(earlier, 1)])

    def serve_longer(self, name, _):
        self.file(name, length=10)

    def serve_shorter(self, name, _):
        self.file(name, length=-10)

    def serve_stall(self, name, _):
        self.file(name, most=1000, stall=30)

    def serve_silent(self, *_):
        time.sleep(30)

    def serve_loop(self, *_):
        self.redirect(self.path)

    def serve_hops(self, name, _):
        count, _, file = name.partition("/")
        self.redirect(f"/hops/{int(count) - 1}/{file}" if int(count) > 1 else f"/plain/{file}")

    def serve_redirect(self, *_):
        self.redirect(self.query["to"])

    def redirect(self, target):
        self.answer(b"", "text/plain", 302, Location=target)

    def serve_html(self, *_):
        self.answer(b"<!DOCTYPE html><title>Log in</title>", "text/html; charset=utf-8")

    def serve_disguised(self, *_):
        self.answer(b"\n<html><title>Log in</title></html>", "application/octet-stream")

    def serve_garbage(self, *_):
        self.wfile.write(b"this is not HTTP\n")
        self.close_connection = True

    def resolve(self, name):
        """Answers as the Hugging Face hub does: large files are on another host."""
        repository, _, rest = name.partition("/resolve/")
        revision, _, file = rest.partition("/")
        if repository.startswith("private/") and self.headers["Authorization"] != "Bearer secret":
            return self.fail(401)
        if urllib.parse.unquote(revision) not in ("main", "v1", "refs/pr/1"):
            return self.fail(404)
        port = self.server.server_address[1]
        return self.redirect(f"http://localhost:{port}/plain/{file}")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, root):
        super().__init__(("127.0.0.1", 0), Handler)
        self.root, self.paths = root, []

    def encrypt(self):
        key, certificate = self.root / ".key.pem", self.root / ".cert.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
             key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, *_):
        """A client that ends a connection is part of the tests."""


servers = {}
for line in sys.stdin:
    order, _, value = line.rstrip("\n").partition(" ")
    if order.startswith("serve"):
        server = Server(pathlib.Path(value))
        if order == "serve-tls":
            server.encrypt()
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers[str(server.server_address[1])] = server
        print(server.server_address[1], flush=True)
    else:
        server = servers.pop(value)
        server.shutdown()
        server.server_close()
        print("stopped", flush=True)
