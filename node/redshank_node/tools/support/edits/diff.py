"""Shows what spans change in a text, looking only at the lines around them."""

from redshank_node.tools.support.edits.spans import Span, replaced
from redshank_node.tools.support.files.diffs import Difference, hunks_of, told

_Region = tuple[int, int, list[Span]]


def difference_of(text: str, spans: tuple[Span, ...], name: str, context: int = 3) -> Difference:
    """The unified diff that replacing these spans amounts to. Takes as long as the spans are long,
    however long the text is.
    """
    hunks: list[str] = []
    line, at, moved = 0, 0, 0
    for start, end, inside in _regions(text, spans, context):
        line += text.count("\n", at, start)
        at = start
        before = text[start:end]
        after = replaced(before, tuple(_within(span, start) for span in inside))
        hunks += hunks_of(before, after, context, (line, line + moved), end == len(text))
        moved += after.count("\n") - before.count("\n")
    return told(hunks, name)


def _regions(text: str, spans: tuple[Span, ...], context: int) -> list[_Region]:
    """Whole lines around the spans; those that would touch are one."""
    regions: list[_Region] = []
    for span in spans:
        start, end = _widened(text, span, context)
        if regions and start <= regions[-1][1]:
            first, last, inside = regions[-1]
            inside.append(span)
            regions[-1] = (first, max(last, end), inside)
        else:
            regions.append((start, end, [span]))
    return regions


def _widened(text: str, span: Span, context: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, span.start) + 1
    for _ in range(context):
        if start == 0:
            break
        start = text.rfind("\n", 0, start - 1) + 1
    end = span.end
    # One line more than the context: the span may end where a line begins.
    for _ in range(context + 1):
        end = text.find("\n", end) + 1
        if end == 0:
            return start, len(text)
    return start, end


def _within(span: Span, start: int) -> Span:
    return Span(span.start - start, span.end - start, span.new)
