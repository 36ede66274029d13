"""Gives new lines the indentation of the place they go to (C30)."""

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


def reindented(lines: list[str], pairs: list[Pair]) -> list[str]:
    """The lines moved as the pairs say; as they are where the pairs say nothing uniform."""
    if all(asked == found for asked, found in pairs):
        return lines
    if len(pairs) > 1 and not pairs[0][0] and all(one == other for one, other in pairs[1:]):
        # Only the first line came without its indentation, as when it was copied from its text on.
        first = lines[0] if indent_of(lines[0]) or not lines[0] else pairs[0][1] + lines[0]
        return [first, *lines[1:]]
    known = dict(pairs)
    if any(known[asked] != found for asked, found in pairs):
        return lines
    return [_moved(line, known) if line.strip(_BLANKS) else line for line in lines]


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
    shorter = len(asked) - len(indent)
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
    return deeper
