"""Finds the product's source files for the tests that read them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    ROOT / "shared" / "redshank_shared",
    ROOT / "node" / "redshank_node",
    ROOT / "console" / "redshank_console",
    ROOT / "gateway" / "redshank_gateway",
)
PAGE = ROOT / "console" / "web" / "src"
GENERATED = ("schema.d.ts",)


def python_files() -> list[Path]:
    """Every Python file of the four packages."""
    return sorted(path for package in PACKAGES for path in package.rglob("*.py"))


def page_files() -> list[Path]:
    """Every file of the page's source that a person writes."""
    kinds = (".ts", ".tsx", ".css")
    found = (path for path in PAGE.rglob("*") if path.suffix in kinds)
    return sorted(path for path in found if path.name not in GENERATED)


def shown(path: Path) -> str:
    """A path as it is written in the ledger."""
    return path.relative_to(ROOT).as_posix()
