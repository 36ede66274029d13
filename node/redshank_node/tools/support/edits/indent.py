"""Gives new lines the indentation of the place they go to (C30)."""

import difflib

_BLANKS = " \t"

Pair = tuple[str, str]


def indent_of(line: str) -> str:
    """The blanks at the beginning of a line."""
    return line[: len(line) - len(line.lstrip(_BLANKS))]


def indents(asked: list[str], found: list[str]) -> list[Pair]:
    """For each line that is not blank: its indentation as it was asked for, as it was found."""
    return [
        (indent_of(one), indent_of(other))
        for one, other in zip(asked, found, strict=False)
        if one.strip(_BLANKS) and other.strip(_BLANKS)
    ]


def reindented(lines: list[str], pairs: list[Pair], nearest: list[int] | None = None) -> list[str]:
    """The lines moved as the pairs say. Where these say nothing uniform each line goes by the pair
    of its own indentation that is next to it; `nearest` gives each line's place among the pairs.
    """
    if all(asked == found for asked, found in pairs):
        return lines
    if len(pairs) > 1 and not pairs[0][0] and all(one == other for one, other in pairs[1:]):
        # Only the first line came without its indentation, as when it was copied from its text on.
        first = lines[0] if indent_of(lines[0]) or not lines[0] else pairs[0][1] + lines[0]
        return [first, *lines[1:]]
    known = dict(pairs)
    if any(known[asked] != found for asked, found in pairs):
        if nearest is None:
            return lines
        places = zip(lines, nearest, strict=True)
        return [_beside(line, at, pairs) if line.strip(_BLANKS) else line for line, at in places]
    return [_moved(line, known) if line.strip(_BLANKS) else line for line in lines]


def places_of(lines: list[str], asked: list[str]) -> list[int]:
    """For each line the place, among the lines of `asked` that are not blank, of the one that it
    is, that it replaces or that it comes behind.
    """
    shown = [line.strip(_BLANKS) for line in asked if line.strip(_BLANKS)]
    bare = [line.strip(_BLANKS) for line in lines]
    matcher = difflib.SequenceMatcher(None, shown, bare, autojunk=False)
    places: list[int] = []
    for _, start, end, first, last in matcher.get_opcodes():
        for step in range(last - first):
            places.append(max(min(start + step, end - 1), 0))
    return places


def _beside(line: str, at: int, pairs: list[Pair]) -> str:
    indent = indent_of(line)
    by_distance = sorted(range(len(pairs)), key=lambda place: (abs(place - at), place > at))
    same = next((place for place in by_distance if pairs[place][0] == indent), None)
    asked, found = pairs[same if same is not None else by_distance[0]]
    return _moved(line, {asked: found})


def _moved(line: str, known: dict[str, str]) -> str:
    indent = indent_of(line)
    rest = line[len(indent) :]
    if indent in known:
        return known[indent] + rest
    asked, found = next(iter(known.items()))
    for one, other in known.items():
        if indent.startswith(one) and len(one) >= len(asked):
            asked, found = one, other
    if indent.startswith(asked):
        return found + _in_units(indent[len(asked) :], known) + rest
    # Less deep than every line that was asked for: taken back as far as there is indentation.
    rise, run = _slope(known)
    shorter = (len(asked) - len(indent)) * rise // run
    unit = len(asked) // len(found) if found and "\t" in found and "\t" not in asked else 1
    return found[: max(len(found) - shorter // max(unit, 1), 0)] + rest


def _in_units(deeper: str, known: dict[str, str]) -> str:
    """Further indentation, in tabs where the file has tabs for what was asked in blanks, or the
    other way round.
    """
    for asked, found in known.items():
        if not asked or not found:
            continue
        if set(asked) == {" "} and set(found) == {"\t"} and len(asked) >= len(found):
            unit = len(asked) // len(found)
            return "\t" * (len(deeper) // unit) + " " * (len(deeper) % unit)
        if set(asked) == {"\t"} and set(found) == {" "} and len(found) >= len(asked):
            return deeper.replace("\t", " " * (len(found) // len(asked)))
    rise, run = _slope(known)
    longer, left = divmod(len(deeper) * rise, run)
    return deeper if left or set(deeper) != {" "} else " " * longer


def _slope(known: dict[str, str]) -> tuple[int, int]:
    """How many blanks the file has for how many that were asked for, from one line to a deeper one:
    one for one where the lines do not all say otherwise.
    """
    places = sorted((len(asked), len(found)) for asked, found in known.items())
    if len(places) < 2 or set("".join((*known, *known.values()))) != {" "}:
        return 1, 1
    (first, least), (last, most) = places[0], places[-1]
    rise, run = most - least, last - first
    if rise <= 0 or any((found - least) * run != (asked - first) * rise for asked, found in places):
        return 1, 1
    return rise, run
