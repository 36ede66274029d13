"""Names every setting: its table, its key, its default, what it takes."""

from typing import Annotated, Literal

import msgspec

from redshank_shared.domain.events import Decision, Mode
from redshank_shared.domain.limits import Limits
from redshank_shared.domain.tool_deferral import SearchMode
from redshank_shared.settings.hooks import Hook
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.secret import Secret, without_password

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
Count = Annotated[int, msgspec.Meta(gt=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
BashSeconds = Annotated[int, msgspec.Meta(ge=1, le=600)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]
MostFound = Annotated[int, msgspec.Meta(ge=1, le=50)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
ConfinedLevel = Literal["read_only", "workspace_write", "network_enabled"]
ProviderName = Literal["openai", "anthropic", "demo", "scripted"]


class Section(msgspec.Struct, frozen=True):
    """One table of the file. A `url` is shown without its password."""

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in self.__struct_fields__}
        if "url" in shown:
            shown["url"] = without_password(shown["url"])
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


class Console(Section, frozen=True):
    host: str = "127.0.0.1"
    port: Port = 8090
    auth: Literal["token", "off"] = "token"
    public_url: str = ""
    admin_token_file: str = ""


class Node(Section, frozen=True):
    host: str = "127.0.0.1"
    port: Port = 8081
    workspace: str = ""
    slots: Count = 64
    name: str = ""
    grace_seconds: Seconds = 8.0
    lease_seconds: Seconds = 15.0


class Database(Section, frozen=True):
    url: str = ""
    synchronous: Literal["FULL", "NORMAL"] = "FULL"
    pool_size: Count = 8


class Redis(Section, frozen=True):
    url: str = "redis://127.0.0.1:6379/0"


class Log(Section, frozen=True):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["console", "json"] = "console"


class ChannelLink(Section, frozen=True):
    """One place where a person is reached."""

    channel_type: str
    channel_id: str


class Discord(Section, frozen=True):
    token_env: str = ""
    token_slot: str = "gateway.discord"
    api_url: str = "https://discord.com/api/v10"
    gateway_url: str = "wss://gateway.discord.gg/"


class Gateway(Section, frozen=True):
    """`users` has a link, or several, under each username."""

    host: str = "127.0.0.1"
    port: Port = 8091
    public_url: str = ""
    console_url: str = "http://127.0.0.1:8090"
    service_secret_env: str = ""
    service_secret_slot: str = "gateway.service"
    delivery_seconds: Seconds = 10.0
    discord: Discord = Discord()
    users: dict[str, ChannelLink | tuple[ChannelLink, ...]] = {}


class GatewayKeys(msgspec.Struct, frozen=True):
    """What the gateway's variables and slots led to in this process, empty if nothing."""

    service_secret: Secret = Secret()
    discord_token: Secret = Secret()


class Vault(Section, frozen=True):
    """`key_file`: the master keys, one a line, the active one first."""

    key_file: str = ""


class Mcp(Section, frozen=True):
    """Beside the tables [mcp.servers.NAME]: a file in the usual `mcpServers` form, profiles of the
    built-in catalog with commas between them. What becomes of a tool whose name is taken, of a
    server that fails at the start; when lists are followed; which ways of reaching servers are
    allowed.
    """

    config: str = ""
    profiles: str = ""
    on_collision: Literal["skip", "fatal"] = "skip"
    on_failure: Literal["degrade", "fatal"] = "degrade"
    inventory: Literal["live", "boot", "fixed"] = "live"
    transports: Literal["both", "http", "stdio"] = "both"


class Metrics(Section, frozen=True):
    token_file: str = ""


class Ledger(Section, frozen=True):
    key_file: str = ""


class Default(Section, frozen=True):
    model: str = ""
    mode: Mode = "default"
    profile: str = "default"


class Approvals(Section, frozen=True):
    """`expires_seconds`: how long an approval waits before it counts as denied, 0 for ever."""

    expires_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class Operator(Section, frozen=True):
    """Whether agents may turn to whoever operates the cluster."""

    enabled: bool = False
    allow_questions: bool = False


class Tools(Section, frozen=True):
    """`config`: the tools.toml of every profile that names none of its own. What web tools may
    reach. `web_search_backend`: "searxng", `mcp:server:tool`, or empty for whichever is set up.
    `bash_timeout_seconds`: when a bash command is stopped that names no time; `exec_binaries`: what
    exec may run, colons between the names. `search`, `search_threshold`, `search_max_results`: when
    tools of MCP servers wait until a search finds them, how many one brings (T-60). `roots`: the
    folder that holds /memories and its like, empty for the one that the workspace lies in (C-25).
    """

    config: str = ""
    roots: str = ""
    bash_timeout_seconds: BashSeconds = 120
    exec_binaries: str = (
        "cat:cut:date:diff:du:echo:false:file:grep:head:ls:printf:pwd:rg:sort:stat:tail:tr:true:"
        "uniq:wc"
    )
    allow_private_network: bool = False
    searxng_url: str = ""
    web_search_backend: str = ""
    search: SearchMode = "auto"
    search_threshold: NotNegative = 20
    search_max_results: MostFound = 5


class Rerank(Section, frozen=True):
    """Where search results are put into an order by relevance; nowhere while `url` is empty.
    `threshold`: what scores below it is left out; `tool_search`: what that finds goes there too.
    """

    url: str = ""
    model: str = ""
    api_key_slot: str = ""
    instruction: str = ""
    threshold: Share = 0.0
    web_search: bool = True
    tool_search: bool = False


class Sandbox(Section, frozen=True):
    """How commands are confined. `ask_network`: whether a bash command without the network may ask
    for it; `readable`, `hidden`: paths, colons between them. A limit of 0 is none.
    """

    backend: Literal["auto", "bwrap", "landlock", "none"] = "auto"
    bash: ConfinedLevel = "workspace_write"
    exec: ConfinedLevel = "workspace_write"
    ask_network: bool = True
    readable: str = ""
    hidden: str = ""
    address_space_mb: NotNegative = 0
    memory_mb: NotNegative = 4096
    cpu_seconds: NotNegative = 3600
    file_mb: NotNegative = 4096
    scratch_mb: Count = 1024
    processes: NotNegative = 1024
    open_files: NotNegative = 4096


class Capabilities(Section, frozen=True):
    """What a model can do. `supports_vision` left out: as its maker's own servers can (T-23);
    `web_search`: the model's provider searches the web by itself (T-31); `tool_search`: it searches
    tools by itself (T-61).
    """

    supports_vision: bool | None = None
    web_search: bool = False
    tool_search: bool = False
    image_generation: bool = False
    image_edit: bool = False
    audio_generation: bool = False


class ProfileSource(Section, frozen=True):
    """One profile under its name: the operator's own `file`, its own tools.toml, other default
    decisions of tools, by their shown names.
    """

    file: str = ""
    tools_config: str = ""
    defaults: dict[str, Decision] = {}


class Model(Section, frozen=True):
    """One model under its name.

    `api_key` holds what `api_key_env` or `api_key_slot` led to in this process, empty if nothing.
    """

    provider: ProviderName
    name: str = ""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    api_key_slot: str = ""
    context_window: Count = 131072
    max_output_tokens: Count = 8192
    thinking_tokens: Annotated[int, msgspec.Meta(ge=0)] = 0
    timeout_seconds: Seconds = 300.0
    capabilities: Capabilities = Capabilities()
    api_key: Secret = Secret()


class Settings(msgspec.Struct, frozen=True):
    """Everything set. `models` is never empty.

    `given` holds the dotted keys that the file or the environment named. `vault_key` holds what
    REDSHANK_VAULT__KEY said: it never stands in the file. `source`: the file that was read, if any.
    """

    console: Console
    node: Node
    database: Database
    redis: Redis
    limits: Limits
    gateway: Gateway
    log: Log
    mcp: Mcp
    metrics: Metrics
    vault: Vault
    default: Default
    models: tuple[Model, ...]
    given: frozenset[str]
    ledger: Ledger = Ledger()
    approvals: Approvals = Approvals()
    operator: Operator = Operator()
    gateway_keys: GatewayKeys = GatewayKeys()
    mcp_servers: tuple[McpServer, ...] = ()
    hooks: tuple[Hook, ...] = ()
    vault_key: Secret = Secret()
    tools: Tools = Tools()
    rerank: Rerank = Rerank()
    rerank_key: Secret = Secret()
    sandbox: Sandbox = Sandbox()
    source: str = ""
    profiles: dict[str, ProfileSource] = {}


SECTIONS: dict[str, type[msgspec.Struct]] = {
    "console": Console,
    "node": Node,
    "database": Database,
    "redis": Redis,
    "limits": Limits,
    "gateway": Gateway,
    "log": Log,
    "mcp": Mcp,
    "metrics": Metrics,
    "vault": Vault,
    "default": Default,
    "ledger": Ledger,
    "approvals": Approvals,
    "operator": Operator,
    "tools": Tools,
    "rerank": Rerank,
    "sandbox": Sandbox,
}
# A model's name is its table's; its key never stands in a file.
NOT_IN_A_FILE = ("name", "api_key")
