"""A finite model of the turn protocol: one workstream, two nodes, two messages, an effect each.

Every step may happen whenever it is possible: a message is appended; its nudge is lost, doubled or
delivered; a node claims, folds, journals an effect, runs it, records it, releases; a node dies, or
is paused past its lease and wakes; the reconciler nudges again.
"""

from collections import deque
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeVar

MESSAGES, NODES, NUDGES, DEATHS = 2, 2, 2, 2

Phase = Literal["free", "folded", "journaled", "ran", "dead"]
Rule = Literal[
    "an effect that was started is not run again",
    "an append demands its epoch and the version it read",
    "the reconciler nudges again",
]
Element = TypeVar("Element")

NOT_REPEATED: Rule = "an effect that was started is not run again"
FENCED: Rule = "an append demands its epoch and the version it read"
RECONCILED: Rule = "the reconciler nudges again"


class Node(NamedTuple):
    """One worker. `current` says that its epoch is the workstream's, which keeps the model finite;
    `seen` the version it folded; `call` the message whose effect it has in hand.
    """

    phase: Phase = "free"
    current: bool = False
    seen: int = 0
    call: int = 0


class World(NamedTuple):
    """Everything that counts. `started`, `finished` and `effects` stand by message; `holder` is the
    node with the lease, -1 for none.
    """

    appended: int = 0
    started: tuple[int, ...] = (0,) * MESSAGES
    finished: tuple[int, ...] = (0,) * MESSAGES
    version: int = 0
    holder: int = -1
    expired: bool = False
    nudges: int = 0
    nodes: tuple[Node, ...] = (Node(),) * NODES
    effects: tuple[int, ...] = (0,) * MESSAGES
    deaths: int = 0


class Move(NamedTuple):
    name: str
    world: World


class Finding(NamedTuple):
    """What exploring found. `fault` is "" where every rule holds; `path` are the steps to it."""

    states: int
    fault: str = ""
    path: tuple[str, ...] = ()


class _Explored(NamedTuple):
    parents: dict[World, tuple[World, str] | None]
    before: dict[World, list[World]]
    doubled: World | None


def explore(dropped: Rule | None = None) -> Finding:
    """Walk through every reachable state, without the dropped rule, and name the first fault."""
    explored = _reachable(dropped)
    states = len(explored.parents)
    if explored.doubled is not None:
        return Finding(states, "an effect ran twice", _path(explored, explored.doubled))
    for world in _stuck(explored):
        return Finding(states, "a message can be forgotten", _path(explored, world))
    return Finding(states)


def _reachable(dropped: Rule | None) -> _Explored:
    explored = _Explored({World(): None}, {}, None)
    to_visit = deque([World()])
    while to_visit:
        world = to_visit.popleft()
        if any(times > 1 for times in world.effects):
            return explored._replace(doubled=world)
        for name, new in moves(world, dropped):
            explored.before.setdefault(new, []).append(world)
            if new not in explored.parents:
                explored.parents[new] = (world, name)
                to_visit.append(new)
    return explored


def _stuck(explored: _Explored) -> list[World]:
    """The states from which no settled state can be reached without another message."""
    good = {world for world in explored.parents if _settled(world)}
    to_visit = deque(good)
    while to_visit:
        for world in explored.before.get(to_visit.popleft(), ()):
            if world not in good:
                good.add(world)
                to_visit.append(world)
    return [world for world in explored.parents if world not in good]


def _path(explored: _Explored, world: World) -> tuple[str, ...]:
    names: list[str] = []
    while (parent := explored.parents[world]) is not None:
        world, name = parent
        names.append(name)
    return tuple(reversed(names))


def moves(world: World, dropped: Rule | None) -> Iterator[Move]:
    """Every step that may come next."""
    yield from _outside_moves(world, dropped)
    for index, node in enumerate(world.nodes):
        if node.phase == "dead":
            yield Move(f"node {index} starts", _with_node(world, index, Node()))
            continue
        if world.deaths < DEATHS:
            dead = _with_node(world, index, Node("dead"))
            yield Move(f"node {index} dies", dead._replace(deaths=world.deaths + 1))
        match node.phase:
            case "free":
                yield from _claim_moves(world, index, dropped)
            case "folded":
                yield from _folded_moves(world, index, node, dropped)
            case "journaled":
                yield _effect_move(world, index, node)
            case "ran":
                yield _record_move(world, index, node, dropped)


def _outside_moves(world: World, dropped: Rule | None) -> Iterator[Move]:
    if world.appended < MESSAGES:
        new = world._replace(appended=world.appended + 1, version=world.version + 1)
        yield Move("a message is appended, its nudge is lost", new)
        yield Move("a message is appended", _nudged(new))
    if _pending(world) and _claimable(world) and dropped != RECONCILED:
        yield Move("the reconciler nudges", _nudged(world))
    if world.holder >= 0 and not world.expired:
        yield Move("the lease runs out", world._replace(expired=True))
    if world.nudges:
        yield Move("a nudge is lost", world._replace(nudges=world.nudges - 1))


def _claim_moves(world: World, index: int, dropped: Rule | None) -> Iterator[Move]:
    """Claim and fold are one transaction; what an earlier holder had started is interrupted."""
    if not world.nudges:
        return
    new = world._replace(nudges=world.nudges - 1)
    if _pending(world) and _claimable(world):
        finished = world.finished
        if dropped != NOT_REPEATED:
            finished = tuple(
                int(done or started)
                for done, started in zip(world.finished, world.started, strict=True)
            )
        version = world.version + sum(finished) - sum(world.finished)
        stale = tuple(other._replace(current=False) for other in world.nodes)
        new = new._replace(
            holder=index,
            expired=False,
            finished=finished,
            version=version,
            nodes=_put(stale, index, Node("folded", True, version)),
        )
    yield Move(f"node {index} takes a nudge", new)


def _folded_moves(world: World, index: int, node: Node, dropped: Rule | None) -> Iterator[Move]:
    if not (node.current or dropped == FENCED):
        yield Move(f"node {index} is fenced", _with_node(world, index, Node()))
        return
    behind = world.version != node.seen
    if behind and dropped != FENCED:
        again = node._replace(seen=world.version)
        yield Move(f"node {index} folds again", _with_node(world, index, again))
    elif to_do := _to_do(world, dropped):
        started = world._replace(
            started=_put(world.started, to_do[0], 1), version=world.version + 1
        )
        journaled = node._replace(phase="journaled", call=to_do[0], seen=started.version)
        yield Move(f"node {index} journals", _with_node(started, index, journaled))
    elif not behind:
        released = world._replace(holder=-1, expired=False)
        yield Move(f"node {index} releases", _with_node(released, index, Node()))


def _effect_move(world: World, index: int, node: Node) -> Move:
    """Committed under its epoch, so it may run even if the lease has just gone: once is once."""
    effects = _put(world.effects, node.call, world.effects[node.call] + 1)
    ran = _with_node(world._replace(effects=effects), index, node._replace(phase="ran"))
    return Move(f"node {index} runs the effect", ran)


def _record_move(world: World, index: int, node: Node, dropped: Rule | None) -> Move:
    if not (node.current or dropped == FENCED):
        fenced = _with_node(world, index, Node())
        return Move(f"node {index} is fenced after its effect", fenced)
    new = world._replace(finished=_put(world.finished, node.call, 1), version=world.version + 1)
    seen = new.version if world.version == node.seen else node.seen
    recorded = _with_node(new, index, node._replace(phase="folded", seen=seen))
    return Move(f"node {index} records", recorded)


def _to_do(world: World, dropped: Rule | None) -> list[int]:
    blind = dropped in (NOT_REPEATED, FENCED)
    return [
        message
        for message in range(world.appended)
        if not world.finished[message] and (blind or not world.started[message])
    ]


def _pending(world: World) -> bool:
    return any(not world.finished[message] for message in range(world.appended))


def _claimable(world: World) -> bool:
    return world.holder < 0 or world.expired


def _settled(world: World) -> bool:
    return world.appended == MESSAGES and not _pending(world) and _claimable(world)


def _nudged(world: World) -> World:
    return world._replace(nudges=min(NUDGES, world.nudges + 1))


def _with_node(world: World, index: int, node: Node) -> World:
    return world._replace(nodes=_put(world.nodes, index, node))


def _put(values: tuple[Element, ...], index: int, value: Element) -> tuple[Element, ...]:
    return (*values[:index], value, *values[index + 1 :])
