"""The web on loopback: a name server, servers behind every address, a record of connections."""

import contextlib
import datetime
import ipaddress
import socket
import ssl
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from redshank_node.tools.support.web.network import AddressInfo, Network
from tests.fakes.name_server import NameServer

PAGE = (
    "<html><head><title>Waders</title></head><body><nav>Menu</nav><article><h1>Waders</h1>"
    "<p>The redshank nests in wet grassland, and calls before anybody else does.</p>"
    "<h2>Food</h2><p>It feeds on <a href='/worms'>worms</a> and small crustaceans, mostly by "
    "day, in shallow water and on mud, where it walks with quick steps and probes.</p>"
    "<table><tr><th>Season</th><th>Birds</th></tr><tr><td>Winter</td><td>4200</td></tr></table>"
    "<p>In winter it goes to estuaries, where thousands gather at high water on the same few "
    "roosts, year after year, and leave again together as soon as the mud lies bare.</p>"
    "</article></body></html>"
)
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebWorld:
    """Whatever address is connected to, one server on loopback answers, so that what would have
    been connected to shows in `connected`, without any of it leaving this machine.

    `hops` are the redirects that are answered in order, then comes what `answer` gives.
    """

    def __init__(self, names: NameServer, hops: Sequence[str] = ()) -> None:
        self.names = names
        self.connected: list[str] = []
        self.requests: list[web.Request] = []
        self.answer: Answer = _page
        self._hops = list(hops)
        self._ports: dict[bool, int] = {}
        self.network = Network(names.resolve, self._open, tls=None)

    def _open(self, info: AddressInfo) -> socket.socket:
        return _Recorded(self, socket.AddressFamily(info[0]))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        at = len(self.requests) - 1
        if at < len(self._hops):
            return web.Response(status=302, headers={"Location": self._hops[at]})
        return await self.answer(request)

    def port_for(self, wanted: int) -> int:
        return self._ports[wanted == 443]

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator["WebWorld"]:
        server, client = _certified(("www.example.com", "b.example"))
        self.network = Network(self.names.resolve, self._open, tls=client)
        runner = web.ServerRunner(web.Server(self.handle), shutdown_timeout=0.1)
        await runner.setup()
        try:
            for secure in (False, True):
                sock = socket.create_server(("127.0.0.1", 0))
                self._ports[secure] = sock.getsockname()[1]
                await web.SockSite(runner, sock, ssl_context=server if secure else None).start()
            yield self
        finally:
            await runner.cleanup()


class _Recorded(socket.socket):
    """A socket that notes where it would go, and goes to loopback."""

    def __init__(self, world: WebWorld, family: socket.AddressFamily) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._world = world

    def connect(self, address: tuple[str, int]) -> None:  # type: ignore[override]
        self._world.connected.append(str(ipaddress.ip_address(address[0])))
        port = self._world.port_for(address[1])
        host = "127.0.0.1" if self.family == socket.AF_INET else "::ffff:127.0.0.1"
        super().connect((host, port))


@contextlib.asynccontextmanager
async def web_world(
    answers: Mapping[str, Sequence[Sequence[str]]] | None = None, hops: Sequence[str] = ()
) -> AsyncGenerator[WebWorld]:
    """A web with these names (name to its answers, one list a lookup) and redirects."""
    known = answers or {"www.example.com": [["93.184.216.34"]]}
    with NameServer(known).running() as names:
        async with WebWorld(names, hops).serving() as world:
            yield world


async def _page(_: web.Request) -> web.StreamResponse:
    return web.Response(text=PAGE, content_type="text/html")


def _certified(names: Sequence[str]) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """(a server's context with a certificate for these names, a client's that trusts it)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
    begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(begin.replace(year=2090))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    shown = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "both.pem"
        file.write_bytes(private + shown)
        server.load_cert_chain(file)
    client = ssl.create_default_context(cadata=shown.decode())
    return server, client
