"""Finds the readable part of a page, as a program of its own: a page may make that take for ever.

It reads the page's address as one line, then its HTML, and writes Markdown, nothing where it finds
none. It never touches the network.
"""

import resource
import sys

import trafilatura

_MOST_MEMORY_BYTES = 2 * 1024**3
_MOST_CPU_SECONDS = 20


def main() -> None:
    """From standard input to standard output, both UTF-8."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, _MOST_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU_SECONDS, _MOST_CPU_SECONDS))
    url, _, source = sys.stdin.buffer.read().decode(errors="replace").partition("\n")
    found = trafilatura.extract(
        source,
        url=url,
        output_format="markdown",
        include_links=True,
        include_formatting=True,
        include_tables=True,
        include_comments=False,
        favor_recall=True,
    )
    sys.stdout.buffer.write((found or "").encode(errors="replace"))


if __name__ == "__main__":
    main()
