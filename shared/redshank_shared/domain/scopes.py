"""What an agent may see or use: allow lists that only ever narrow, deny lists that only grow."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from redshank_shared.domain.errors import Invalid, NotAllowed
from redshank_shared.domain.terms import Effect

EVERYTHING = "*"
NOTHING: frozenset[str] = frozenset()


class CapabilityScope(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which skills, MCP servers and MCP tools are visible (K-72). An allow list of None is no
    limit, an empty one allows nothing (O5, O27); `*` is everything; a deny counts after an allow.
    Entries are whole names or `*` (K-73).
    """

    skill_allow: frozenset[str] | None = None
    skill_deny: frozenset[str] = NOTHING
    mcp_server_allow: frozenset[str] | None = None
    mcp_server_deny: frozenset[str] = NOTHING
    mcp_tool_allow: frozenset[str] | None = None
    mcp_tool_deny: frozenset[str] = NOTHING


class CredentialScope(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which model routes, connectors, their credentials (`connector:ENV_KEY`) or MCP servers may
    be used (K-72); lists as in a CapabilityScope. `credentialed_mcp` False: no MCP server that
    needs a credential, whatever the lists say (K-75).
    """

    route_allow: frozenset[str] | None = None
    route_deny: frozenset[str] = NOTHING
    connector_allow: frozenset[str] | None = None
    connector_deny: frozenset[str] = NOTHING
    connector_credential_allow: frozenset[str] | None = None
    connector_credential_deny: frozenset[str] = NOTHING
    mcp_server_allow: frozenset[str] | None = None
    mcp_server_deny: frozenset[str] = NOTHING
    credentialed_mcp: bool = True


Scope = TypeVar("Scope", CapabilityScope, CredentialScope)

_CAPABILITIES = ("skill", "mcp_server", "mcp_tool")
_CREDENTIALS = ("route", "connector", "connector_credential", "mcp_server")


class _Lists(msgspec.Struct, frozen=True):
    """The allow and deny list of one kind of thing."""

    allow: frozenset[str] | None
    deny: frozenset[str]

    def permits(self, names: Iterable[str]) -> bool:
        """Whether one of a thing's names is allowed, and none of them denied."""
        called = frozenset(names)
        if EVERYTHING in self.deny or called & self.deny:
            return False
        return _open(self.allow) or bool(called & (self.allow or NOTHING))


def permits(allow: frozenset[str] | None, deny: frozenset[str], names: Iterable[str]) -> bool:
    """Whether these two lists leave a thing that has these names (K-73)."""
    return _Lists(allow, deny).permits(names)


def skill_visible(scope: CapabilityScope, skill: str) -> bool:
    """Whether a skill is there at all for this agent (K-30)."""
    return _lists(scope, "skill").permits((skill,))


def server_visible(scope: CapabilityScope, server: str) -> bool:
    """Whether an MCP server is there at all for this agent."""
    return _lists(scope, "mcp_server").permits((server,))


def tool_visible(
    scope: CapabilityScope, names: Iterable[str], effect: Effect, server: str = ""
) -> bool:
    """Whether a tool is in the surface; one that is not is absent, and a call to it gets the words
    for an unknown name (K-5). Only MCP is narrowed: a server's tool needs its server and itself
    allowed, the resource helpers (no `server`) only themselves (K-73). `names`: all it has.
    """
    if effect != "mcp":
        return True
    if server and not server_visible(scope, server):
        return False
    return _lists(scope, "mcp_tool").permits(names)


def route_usable(scope: CredentialScope, route: str) -> bool:
    """Whether a model route may be used."""
    return _lists(scope, "route").permits((route,))


def server_usable(scope: CredentialScope, server: str, credentialed: bool) -> bool:
    """Whether a call may go to an MCP server (K-68); `credentialed`: it needs a credential."""
    if credentialed and not scope.credentialed_mcp:
        return False
    return _lists(scope, "mcp_server").permits((server,))


def connector_usable(scope: CredentialScope, connector: str) -> bool:
    """Whether a connector may be used, credentials apart."""
    return _lists(scope, "connector").permits((connector,))


def connector_credential_usable(scope: CredentialScope, connector: str, key: str) -> bool:
    """Whether a connector may be used with its credential `key`."""
    if not connector_usable(scope, connector):
        return False
    return _lists(scope, "connector_credential").permits((f"{connector}:{key}",))


def intersect(first: Scope, second: Scope) -> Scope:
    """What both permit: allow lists intersect, deny lists unite (K-74, K-77). Two allow lists with
    nothing in common leave nothing (O5).
    """
    made: dict[str, object] = {}
    for kind in _kinds(first):
        one, other = _lists(first, kind), _lists(second, kind)
        made[f"{kind}_allow"] = common_allow(one.allow, other.allow)
        made[f"{kind}_deny"] = one.deny | other.deny
    if isinstance(first, CredentialScope) and isinstance(second, CredentialScope):
        made["credentialed_mcp"] = first.credentialed_mcp and second.credentialed_mcp
    return type(first)(**made)  # type: ignore[arg-type]  # a list of each kind, made just above


def narrowed(parent: Scope, requested: Scope, field: str) -> Scope:
    """A child's scope: what it asks for within the parent's. Raises NotAllowed, naming `field` and
    the list, where an entry lies outside the parent's allow list (K-74, F71).
    """
    for kind in _kinds(parent):
        allowed, asked = _lists(parent, kind).allow, _lists(requested, kind).allow
        outside = NOTHING if _open(allowed) else (asked or NOTHING) - (allowed or NOTHING)
        if outside:
            given = ", ".join(sorted(allowed or NOTHING)) or "nothing"
            raise NotAllowed(
                f"{field}.{kind}_allow asks for {', '.join(sorted(outside))}, but the parent has "
                f"{given}: leave out what it does not have",
                field=f"{field}.{kind}_allow",
            )
    return intersect(parent, requested)


def delegated_credentials(
    parent: CredentialScope, requested: CredentialScope | None, field: str = "credential_scope"
) -> CredentialScope:
    """The credentials of a delegated child. With no scope of its own it keeps the routes, and has
    no connector, no connector's credential, no MCP server that needs one (K-75). With one, only the
    connector credentials that it names, with their connectors (K-76, O22).
    """
    if requested is None:
        without = CredentialScope(
            connector_allow=NOTHING, connector_credential_allow=NOTHING, credentialed_mcp=False
        )
        return intersect(parent, without)
    named = requested.connector_credential_allow or NOTHING
    effective = narrowed(parent, requested, field)
    connectors = requested.connector_allow
    if connectors is None:
        connectors = frozenset(each.partition(":")[0] for each in named)
    limit = CredentialScope(connector_allow=connectors, connector_credential_allow=named)
    return intersect(effective, limit)


def check_entries(scope: CapabilityScope | CredentialScope, field: str) -> None:
    """Raises Invalid, naming `field` and the list, for an entry that is neither a whole name nor
    `*`: there are no prefixes here (K-73); a connector's credential is `connector:ENV_KEY`.
    """
    for kind in _kinds(scope):
        lists = _lists(scope, kind)
        for name, entries in (("allow", lists.allow or NOTHING), ("deny", lists.deny)):
            check_list(entries, f"{field}.{kind}_{name}", kind == "connector_credential")


def check_list(entries: frozenset[str], where: str, credentials: bool = False) -> None:
    """Raises Invalid, naming the list as `where`, for an entry of it as above."""
    for entry in sorted(entries):
        _check_entry(entry, where, credentials)


def _check_entry(entry: str, where: str, credential: bool) -> None:
    if entry == EVERYTHING:
        return
    if not entry.strip() or EVERYTHING in entry:
        raise Invalid(f"{where} holds {entry!r}: write a whole name, or * for all", field=where)
    connector, colon, key = entry.partition(":")
    if credential and not (connector and colon and key):
        raise Invalid(f"{where} holds {entry!r}: write connector:ENV_KEY", field=where)


def _kinds(scope: CapabilityScope | CredentialScope) -> tuple[str, ...]:
    return _CAPABILITIES if isinstance(scope, CapabilityScope) else _CREDENTIALS


def _lists(scope: CapabilityScope | CredentialScope, kind: str) -> _Lists:
    return _Lists(getattr(scope, f"{kind}_allow"), getattr(scope, f"{kind}_deny"))


def _open(allow: frozenset[str] | None) -> bool:
    return allow is None or EVERYTHING in allow


def common_allow(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """The allow list of what both permit; None is no limit, an empty one allows nothing (O5)."""
    if one is None or other is None:
        return other if one is None else one
    if EVERYTHING in one:
        return other
    return one if EVERYTHING in other else one & other
