"""Sending over real sockets: what is kept of an answer, what is given up on, what is never connected to."""

from __future__ import annotations

import datetime
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from netinv_core import settings as known_settings
from netinv_extras import app as extras
from netinv_extras.webhooks.http_client import DeliveryAnswer, Sender
from netinv_extras.webhooks.payload import WebhookMessage
from netinv_outgoing.ssrf import ConnectionRefused, Guard, own_services
from tests.support.receivers import Received, Receiver, say

LOCAL = "127.0.0.0/8 ::1"


def sender(**settings: Any) -> Sender:
    """A sender that may send to this machine, with more time than a busy machine takes; tests of those that do not
    answer set less.
    """
    given = {
        "webhook_allow": LOCAL,
        "webhook_connect_timeout": "60",
        "webhook_read_timeout": "60",
        "webhook_total_timeout": "60",
        **settings,
    }
    return Sender(
        known_settings.read(
            {"netinv.secret": "s" * 32, **{f"netinv.{name}": str(value) for name, value in given.items()}},
            {"extras": extras.without(())},
        )
    )


def message(url: str, verify: bool | str = True, secrets: tuple[str, ...] = (), body: bytes = b"{}") -> WebhookMessage:
    """A message to a receiver."""
    return WebhookMessage("POST", url, {"Content-Type": b"application/json"}, body, verify, secrets)


def send(receiver: Receiver, **settings: Any) -> DeliveryAnswer:
    """What comes of sending something to a receiver."""
    return sender(**settings).send(message(receiver.url))


# -- answers


def test_the_request_arrives_as_it_was_made() -> None:
    with Receiver() as receiver:
        answer = sender().send(message(f"{receiver.url}?a=1", body=b'{"a": "\xc3\xa9"}'))
        (request,) = receiver.received
    assert answer.good and answer.error == "" and answer.seconds > 0
    assert (request.method, request.path, request.body) == ("POST", "/hook?a=1", b'{"a": "\xc3\xa9"}')
    assert {name.lower() for name in request.headers} == {
        "host",
        "accept-encoding",
        "content-type",
        "content-length",
        "user-agent",
    }


def test_head_and_body_are_one_write_to_the_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    send_plainly = http.client.HTTPConnection.send

    def send(connection: Any, data: bytes) -> None:
        writes.append(data)
        send_plainly(connection, data)

    monkeypatch.setattr(http.client.HTTPConnection, "send", send)
    with Receiver() as receiver:
        one = sender()
        assert all(one.send(message(receiver.url, body=b"[1]")).good for _ in range(2))
    assert [write.endswith(b"\r\n\r\n[1]") for write in writes] == [True, True]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_is_success(status: int) -> None:
    with Receiver(lambda handler, _: say(handler, status)) as receiver:
        assert send(receiver).good


@pytest.mark.parametrize("status", [300, 304, 400, 404, 410, 500, 503])
def test_anything_else_is_not(status: int) -> None:
    with Receiver(status) as receiver:
        answer = send(receiver)
    assert (answer.good, answer.status) == (False, status)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with Receiver() as there, Receiver(lambda handler, _: say(handler, status, Location=there.url)) as receiver:
        answer = send(receiver)
        assert (answer.good, answer.status, there.received) == (False, status, [])


def test_cookies_are_not_kept() -> None:
    with Receiver(lambda handler, _: say(handler, 200, Set_Cookie="a=b")) as receiver:
        one = sender()
        one.send(message(receiver.url))
        one.send(message(receiver.url))
        assert "Cookie" not in receiver.received[1].headers


def test_1024_characters_of_an_answer_are_kept() -> None:
    text = "é" * 5000
    with Receiver(lambda handler, _: say(handler, 500, text)) as receiver:
        assert send(receiver).text == text[:1024]


def test_what_is_not_text_is_kept_as_far_as_it_is() -> None:
    def answer(handler: Any, request: Received) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "4")
        handler.end_headers()
        handler.wfile.write(b"a\x00\xffb")

    with Receiver(answer) as receiver:
        assert send(receiver).text == "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}b"


def test_secrets_are_masked_in_answers_and_errors() -> None:
    with Receiver(lambda handler, _: say(handler, 400, "you said s3cret-s3cret, s3cret-s3cret!")) as receiver:
        answer = sender().send(message(receiver.url, secrets=("s3cret-s3cret",)))
    assert "s3cret" not in answer.text and answer.text.startswith("you said ***")


def test_connections_are_kept_and_opened_anew_when_the_receiver_closed_them() -> None:
    with Receiver() as receiver:
        one = sender()
        assert all(one.send(message(receiver.url)).good for _ in range(5))
        assert receiver.connections == 1

    def once(handler: Any, request: Received) -> None:
        say(handler, 200)
        handler.close_connection = True  # without having said so

    with Receiver(once) as receiver:
        one = sender()
        assert all(one.send(message(receiver.url)).good for _ in range(5))


# -- receivers that do not answer


def test_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        answer = sender().send(message(f"http://127.0.0.1:{unused.getsockname()[1]}/"))
    assert (answer.status, answer.error, answer.late) == (None, "There was no connection: Connection refused.", False)


@pytest.fixture
def end() -> Iterator[threading.Event]:
    """Set when the test is over: what receivers that do not answer wait for."""
    event = threading.Event()
    yield event
    event.set()


def drip(handler: Any, end: threading.Event) -> None:
    """Sends a byte now and then, until the connection is cut or the test is over."""
    while not end.wait(0.05):
        handler.wfile.write(b"x")
        handler.wfile.flush()


def test_a_receiver_that_says_nothing_is_given_up(end: threading.Event) -> None:
    with Receiver(lambda handler, _: end.wait(60)) as receiver:
        answer = send(receiver, webhook_read_timeout=0.2)
        end.set()
    assert (answer.error, answer.late) == ("The receiver sent nothing for 0.2 s.", True)


def test_a_receiver_that_drips_is_cut(end: threading.Event) -> None:
    def answer(handler: Any, request: Received) -> None:
        handler.wfile.write(b"HTTP/1.1 ")
        drip(handler, end)

    with Receiver(answer) as receiver:
        answer_ = send(receiver, webhook_total_timeout=0.5)
    assert (answer_.status, answer_.error, answer_.late) == (None, "There was no answer within 0.5 s.", True)


def test_the_status_counts_when_the_rest_drips(end: threading.Event) -> None:
    """On a busy machine the status may come too late for the first times that are set."""

    def answer(handler: Any, request: Received) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        drip(handler, end)

    with Receiver(answer) as receiver:
        for total in (0.5, 5, 30):
            found = send(receiver, webhook_total_timeout=total)
            if found.status is not None:
                break
    assert found.good and set(found.text) <= {"x"}


@pytest.mark.parametrize(
    ("raw", "status", "error"),
    [
        (b"", None, "The receiver closed the connection without an answer."),
        (b"garbage\r\n\r\n", None, "The receiver's answer is not HTTP (BadStatusLine)."),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", 200, ""),
        (b"HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf", 500, ""),
    ],
)
def test_an_answer_that_breaks_off(raw: bytes, status: int | None, error: str) -> None:
    def answer(handler: Any, request: Received) -> None:
        handler.wfile.write(raw)
        handler.wfile.flush()
        handler.close_connection = True

    with Receiver(answer) as receiver:
        found = send(receiver)
    assert (found.status, found.error) == (status, error)
    assert found.text in ("", "half")


def test_a_name_that_nobody_has() -> None:
    assert sender().send(message("http://nobody.invalid/")).error == "The name of the host cannot be resolved."


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "http://", "http://[", "nothing"]
)
def test_other_urls_fail_and_say_so(url: str) -> None:
    answer = sender().send(message(url))
    assert answer.status is None and answer.error


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither its proxies nor the passwords in ~/.netrc."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with Receiver() as proxy, Receiver() as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert send(receiver).good
        assert proxy.received == [] and "Authorization" not in receiver.received[0].headers


def test_credentials_of_the_url_are_sent_as_such() -> None:
    with Receiver() as receiver:
        sender().send(message(receiver.url.replace("://", "://me:p%40w@")))
        assert receiver.received[0].headers["Authorization"] == "Basic bWU6cEB3"


# -- the guard

REFUSED = [
    "127.0.0.1",
    "127.9.9.9",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.0.0.192",
    "168.63.129.16",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "fec0::1",
    "2001:db8::1",
    "100::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "2002:c0a8:101::1",
    "2001::1",
    "2600::5efe:10.0.0.1",
    "2600::200:5efe:127.0.0.1",
    "::ffff:0:10.0.0.1",
    "3fff::1",
]
PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "193.0.6.139",
    "172.32.0.1",
    "2001:4860:4860::8888",
    "2a00:1450:4001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
]


@pytest.mark.parametrize("address", REFUSED)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    with pytest.raises(ConnectionRefused, match=r"netinv\.webhook_allow"):
        Guard().check("a.example", ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_not(address: str) -> None:
    Guard().check("a.example", ipaddress.ip_address(address))


def test_networks_and_hosts_can_be_allowed() -> None:
    guard = Guard(["10.0.0.0/8", "fd00::/8", "Chat.example"])
    for host, address in [
        ("a", "10.1.1.1"),
        ("a", "::ffff:10.1.1.1"),
        ("a", "fd00::1"),
        ("chat.example.", "192.168.1.1"),
        ("a", "64:ff9b::10.1.1.1"),
    ]:
        guard.check(host, ipaddress.ip_address(address))
    for host, address in [("a", "192.168.1.1"), ("b.chat.example", "192.168.1.1"), ("a", "127.0.0.1"), ("a", "::1")]:
        with pytest.raises(ConnectionRefused):
            guard.check(host, ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "127.0.0.2", "0.0.0.0", "64:ff9b::127.0.0.1"]
)
@pytest.mark.parametrize(
    ("url", "port"),
    [("redis://localhost/1", 6379), ("redis://127.0.0.1:7000/1", 7000), ("rediss://[::1]:7000/1", 7000)],
)
def test_the_queue_and_the_database_are_refused_even_where_their_addresses_are_allowed(
    address: str, url: str, port: int
) -> None:
    settings = {
        "netinv.secret": "s" * 32,
        "netinv.queue_url": url,
        "netinv.database_url": "postgresql://u:p@localhost/netinv",
    }
    guard = Guard(
        ["0.0.0.0/0", "::/0"], own=own_services(known_settings.read(settings, {"extras": extras.without(())}))
    )
    for own in (port, 5432):
        with pytest.raises(ConnectionRefused, match=f"Nothing is sent to port {own} of .*netinv's own"):
            guard.check("a.example", ipaddress.ip_address(address), own)
    guard.check("a.example", ipaddress.ip_address(address), 8080)
    guard.check("a.example", ipaddress.ip_address("10.0.0.1"), 5432)


def test_a_message_to_the_queue_is_not_sent() -> None:
    with Receiver() as receiver:
        answer = sender(queue_url=f"redis://localhost:{receiver.port}/0").send(message(receiver.url))
        assert (answer.status, receiver.connections) == (None, 0)
    assert answer.error == f"Nothing is sent to port {receiver.port} of 127.0.0.1: it is a service of netinv's own."


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "0"]
)
def test_nothing_reaches_a_receiver_that_is_not_allowed(host: str) -> None:
    with Receiver() as receiver:
        answer = sender(webhook_allow="10.0.0.0/8").send(message(f"http://{host}:{receiver.port}/"))
        assert receiver.connections == 0
    assert answer.error.startswith("Nothing is sent to ")


def test_the_name_is_resolved_once_and_what_was_checked_is_connected_to(
    monkeypatch: pytest.MonkeyPatch, refused_connections: list[Any]
) -> None:
    """A name server that gives a public address first and this machine's at the next question gains nothing."""
    asked = []
    real = socket.getaddrinfo

    def changing(host: Any, *arguments: Any, **named: Any) -> Any:
        asked.append(host)
        return real("192.0.2.1" if len(asked) == 1 else "127.0.0.1", *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    with Receiver() as receiver:
        answer = sender(webhook_allow="192.0.2.0/24", webhook_connect_timeout=0.2).send(
            message(f"http://changing.example:{receiver.port}/")
        )
        assert (receiver.connections, asked, answer.status) == (0, ["changing.example"], None)
        assert refused_connections == [("192.0.2.1", receiver.port)]


def test_one_address_that_is_refused_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **named: real("127.0.0.1", *rest, **named) + real("10.0.0.1", *rest, **named),
    )
    with Receiver() as receiver:
        assert "10.0.0.1" in sender().send(message(f"http://both.example:{receiver.port}/")).error
        assert receiver.connections == 0


@pytest.mark.parametrize(
    ("text", "known"), [("10.0.0.0/8 ::1 a.example", True), ("10.0.0.0/99", False), ("10.0.0", False), ("a/b", False)]
)
def test_the_setting_names_networks_and_hosts(text: str, known: bool) -> None:
    if known:
        assert known_settings.read(
            {"netinv.secret": "s" * 32, "netinv.webhook_allow": text}, {"extras": extras.without(())}
        )["webhook_allow"] == tuple(text.split())
    else:
        with pytest.raises(ValueError, match="webhook_allow"):
            known_settings.read(
                {"netinv.secret": "s" * 32, "netinv.webhook_allow": text}, {"extras": extras.without(())}
            )


# -- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for ``localhost`` alone, with its key, that nobody else has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), start, start + datetime.timedelta(days=3)
        )
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


@pytest.fixture
def secure(certificate: Path) -> Iterator[Receiver]:
    """A receiver that speaks TLS; ``secure.names`` are the names it was asked for (SNI)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    names: list[str | None] = []
    context.sni_callback = lambda connection, name, _: names.append(name)
    with Receiver(tls=context) as receiver:
        receiver.names = names  # type: ignore[attr-defined]
        yield receiver


def _by_name(receiver: Receiver, name: str) -> str:
    return f"https://{name}:{receiver.port}/hook"


def test_a_certificate_is_checked_against_the_host_and_the_file(secure: Any, certificate: Path) -> None:
    assert sender().send(message(_by_name(secure, "localhost"), verify=str(certificate))).good
    assert secure.names == ["localhost"]
    wrong = sender().send(message(secure.url, verify=str(certificate)))
    assert wrong.status is None and wrong.error.startswith("TLS failed:") and "127.0.0.1" in wrong.error


def test_a_certificate_that_nobody_signed_is_refused_unless_it_is_not_to_be_checked(secure: Any) -> None:
    one = sender()
    refused = one.send(message(_by_name(secure, "localhost")))
    assert (refused.status, refused.error) == (None, "TLS failed: self-signed certificate")
    assert one.send(message(_by_name(secure, "localhost"), verify=False)).good
    assert not one.send(message(_by_name(secure, "localhost"))).good, (
        "what was not checked is not used for what is to be"
    )


def test_a_missing_file_of_authorities_is_a_failed_attempt(secure: Any, tmp_path: Path) -> None:
    answer = sender().send(message(_by_name(secure, "localhost"), verify=str(tmp_path / "none.pem")))
    assert answer.status is None and "none.pem" in answer.error
    (tmp_path / "wrong.pem").write_text("nothing")
    assert sender().send(message(_by_name(secure, "localhost"), verify=str(tmp_path / "wrong.pem"))).error


def test_a_receiver_that_never_finishes_the_handshake_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answer = sender(webhook_connect_timeout=0.3).send(message(f"https://127.0.0.1:{server.getsockname()[1]}/"))
    assert answer.late


def _open_files() -> int:
    folder = Path("/proc/self/fd")
    return sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0


def test_nothing_is_left_open() -> None:
    """After many failures no file descriptors remain."""
    with Receiver(lambda handler, _: setattr(handler, "close_connection", True)) as receiver:
        one = sender()
        one.send(message(receiver.url))
        before = _open_files()
        for _ in range(300):
            one.send(message(receiver.url))
        assert _open_files() <= before + 100  # other threads open and close files meanwhile


def test_many_threads_share_a_sender() -> None:
    with Receiver() as receiver:
        one, answers = sender(), []
        threads = [
            threading.Thread(target=lambda: answers.extend(one.send(message(receiver.url)) for _ in range(20)))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 160 and all(answer.good for answer in answers)
        assert receiver.connections <= 32
