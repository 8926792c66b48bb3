"""A server of RTSP on the loopback interface that sends an MPEG transport stream in RTP packets over the connection of
the requests (RFC 2326, RFC 2250).

    rtsp_server.py FILE BEHAVIOUR PACKETS

It prints its port and ends with its standard input. The first connection that plays, which is that of ffprobe, gets the
whole file. Later ones get so many packets; then the server closes the connection ("stop") or sends nothing more
("silence").
"""
import os
import socket
import struct
import sys
import threading

TS_PACKET = 188
PACKETS_OF_RTP = 7


def rtp_packets(stream):
    """The stream in RTP packets, each after the four bytes that mark it in the connection."""
    size = TS_PACKET * PACKETS_OF_RTP
    for number, start in enumerate(range(0, len(stream), size)):
        body = stream[start:start + size]
        head = struct.pack(">BBHII", 0x80, 33, number & 0xFFFF, number * 900, 0x4B454C56)
        yield b"$\0" + struct.pack(">H", len(head) + len(body)) + head + body


class Server:
    def __init__(self, path, behaviour, packets):
        with open(path, "rb") as file:
            self.packets = list(rtp_packets(file.read()))
        self.behaviour, self.count, self.played = behaviour, packets, 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        lines = connection.makefile("rb")
        try:
            while request := lines.readline().decode().split():
                fields = {}
                while line := lines.readline().decode().strip():
                    key, _, value = line.partition(":")
                    fields[key.lower()] = value.strip()
                self.answer(connection, request, fields)
        except OSError:
            pass
        connection.close()

    def answer(self, connection, request, fields):
        method, url = request[0], request[1]
        extra, body = [], b""
        if method == "OPTIONS":
            extra = ["Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN"]
        elif method == "DESCRIBE":
            body = b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=clip\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\nm=video 0 RTP/AVP 33\r\na=control:track\r\n"
            extra = ["Content-Type: application/sdp", f"Content-Base: {url}/"]
        elif method == "SETUP":
            extra = ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1", "Session: 1"]
        else:
            extra = ["Session: 1"]
        head = ["RTSP/1.0 200 OK", f"CSeq: {fields.get('cseq', '0')}", *extra, f"Content-Length: {len(body)}"]
        connection.sendall("\r\n".join(head + ["", ""]).encode() + body)
        if method == "PLAY":
            self.play(connection)

    def play(self, connection):
        with self.lock:
            self.played += 1
            isFirst = self.played == 1
        for packet in self.packets if isFirst else self.packets[:self.count]:
            connection.sendall(packet)
        if isFirst or self.behaviour == "stop":
            connection.shutdown(socket.SHUT_WR)


def main():
    server = Server(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    threading.Thread(target=server.run, daemon=True).start()
    print(server.listener.getsockname()[1], flush=True)
    sys.stdin.read()
    os._exit(0)


main()
