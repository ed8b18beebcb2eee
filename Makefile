# netinv: `make help` lists the targets.

PYTHON ?= python3
BIN := .venv/bin
PACKAGES := $(patsubst %/pyproject.toml,%,$(wildcard netinv_*/pyproject.toml)) .
LOCKS := requirements.lock requirements-dev.lock
SERVED := .venv/.served
INSTALLED := .venv/.installed
PORT ?= 8000
PLUGINS := .venv/plugins
PACKAGED := .venv/packages
FOLDERS := $(wildcard plugins/netinv_*)
PROVIDER := .venv/provider
GENERATORS := .venv/generators
SITE := netinv_web/site/index.html
LDAP := .venv/ldap
MCP := .venv/mcp
DOCUMENTING := html5lib jsonschema-rs mkdocs pytest webtest
PIP_VERSION := 26.3
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
PROCESSES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
RUN := $(BIN)/python -m ci.run

# Compiling the tests, whose assertions pytest rewrites, takes 10 s of every process unless the result is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install run test coverage gate test-sqlite test-postgresql test-mariadb test-browser test-directories test-packages test-all bench trace compare lint lock docs dist clean

help:      ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## */\t/' | expand -t 12

install: $(INSTALLED)  ## create .venv with the versions of requirements.lock and requirements-dev.lock

# What a service needs, and for its documentation MkDocs and what the documented modules of tests import. A .venv that
# could not be filled at first is removed. The pip of Python 3.11 and of Debian 12 takes twice as long as a later one,
# hence the first step; locks need no resolver. Each package takes some 3 s to install, so processes share them. The
# warning of setuptools about each editable installation, ten lines long, is not shown.
$(SERVED): $(LOCKS) setup.cfg setup.py VERSION release/setup.cfg $(wildcard netinv_*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "netinv needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": make run PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || (rm -rf .venv; exit 1)
	@$(PIP) pip==$(PIP_VERSION) || (test -e $@ || rm -rf .venv; exit 1)
	@$(PIP) -r requirements.lock -c requirements-dev.lock $(DOCUMENTING) setuptools wheel || (test -e $@ || rm -rf .venv; exit 1)
	@printf -- '-e ./%s\n' $(PACKAGES) | PYTHONWARNINGS=ignore xargs -P $(PROCESSES) -L 4 $(PIP) --no-deps --no-build-isolation || (test -e $@ || rm -rf .venv; exit 1)
	@touch $@

$(INSTALLED): $(SERVED)
	@$(PIP) --no-deps $(addprefix -r ,$(LOCKS))
	@touch $@

run: $(SERVED) $(SITE)  ## migrate a SQLite file, create the first user, run service and worker on 127.0.0.1:8000 (PORT=8001 for another port)
	@mkdir -p var
	@$(BIN)/netinv migrate
	@$(BIN)/netinv user create admin --email admin@example.com --superuser --with-token --unless-any
	@echo "pages     http://127.0.0.1:$(PORT)/   (sign in as admin; the password was printed once, \`$(BIN)/netinv user password admin\` sets another)"
	@echo "API       http://127.0.0.1:$(PORT)/api/ and http://127.0.0.1:$(PORT)/api/docs/ (Ctrl-C stops)"
	@$(BIN)/netinv serve development.ini port=$(PORT)

# The example plugin is installed beside the service, for the tests only.
$(PLUGINS): $(INSTALLED) $(shell find plugins/example -type f)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target $@ ./plugins/example
	@touch $@

# The optional packages are installed for tests of their own, so that no other test is slower with them.
$(PACKAGED): $(INSTALLED) $(shell find plugins/netinv_* -type f -not -path '*/build/*' -not -path '*.egg-info/*')
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target $@ $(addprefix ./,$(FOLDERS))
	@touch $@

# The OpenID Connect provider of the tests is a process of its own, with libraries of its own.
$(PROVIDER): $(INSTALLED) requirements-provider.lock
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ -r requirements-provider.lock
	@touch $@

# python-ldap is compiled: that needs libldap2-dev and libsasl2-dev. The tests start slapd.
$(LDAP): $(INSTALLED) requirements-ldap.lock
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ -r requirements-ldap.lock
	@touch $@

# The SDK of the Model Context Protocol brings an HTTP stack of its own, which no other part of the service needs.
$(MCP): $(INSTALLED) requirements-mcp.lock
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $@ -r requirements-mcp.lock
	@touch $@

# Generators of clients: the tests have them read the OpenAPI document, and call the service with what they write.
$(GENERATORS): $(INSTALLED) requirements-generators.lock $(wildcard tests/support/typescript/package*.json)
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ -r requirements-generators.lock
	@mkdir $@/typescript && cp tests/support/typescript/package*.json $@/typescript
	@npm ci --prefix $@/typescript --silent --no-audit --no-fund

# Which tests each target runs is in ci/steps.py. OPTIONS are further arguments of pytest: make test-mariadb OPTIONS="-k cables".
test: $(PLUGINS)  ## run the tests on SQLite, without the slow ones and with a sixteenth of the contract
	$(RUN) quick $(OPTIONS)

coverage: $(PLUGINS)  ## run the same tests and print the line and branch coverage of each module
	$(RUN) quick --cov --cov-report=term --cov-report=html:var/coverage

gate: $(PLUGINS) $(PACKAGED) $(PROVIDER) $(LDAP) $(MCP)  ## run what must pass before a change lands (.ci/run also looks after the machine)
	$(RUN) gate

test-sqlite: $(PLUGINS) $(GENERATORS)  ## run all tests on SQLite
test-postgresql: $(PLUGINS)  ## run all tests of a database on PostgreSQL and Redis
test-mariadb: $(PLUGINS)  ## run all tests of a database on MariaDB and Redis
test-browser: $(PLUGINS)  ## run the tests in Chromium
test-directories: $(PLUGINS) $(PROVIDER) $(LDAP) $(MCP)  ## run the tests with identity providers, LDAP and the SDK of agents
test-packages: $(PLUGINS) $(PACKAGED)  ## run the tests and the whole contract of the packages in plugins/, on all three databases
test-sqlite test-postgresql test-mariadb test-browser test-directories test-packages:
	$(RUN) $@ $(OPTIONS)

test-all: $(PLUGINS) $(PACKAGED) $(PROVIDER) $(LDAP) $(MCP) $(GENERATORS)  ## run every test on every database, as the six targets above
	$(RUN) test-all

bench: install  ## run the benchmark on PostgreSQL (BENCH="--sqlite --json out.json …", see BENCH=--help)
	$(BIN)/python -m bench $(BENCH)

trace: install  ## functions, files and SQL statements that requests enter (TRACE="--functions --only PATCH")
	$(BIN)/python -m bench.trace $(TRACE)

compare: install  ## compare the answers of two services (COMPARE="http://reference http://netinv --only dcim.*", see COMPARE=--help)
	$(BIN)/python -m compare $(COMPARE)

lint: install  ## run ruff (rules and format) and mypy
	$(RUN) lint

lock:      ## write both locks from what pyproject.toml and requirements-dev.in declare (LOCK=--upgrade takes newer versions)
	$(PYTHON) -m release.lock $(LOCK)

docs: install  ## build the documentation site in netinv_web/site, which the service shows at /docs/
	$(BIN)/python -m release.site

# Pages that are generated from declarations are as old as the rest: `make docs` builds all of them anew.
$(SITE): $(wildcard docs/*.md) CONTRIBUTING.md CHANGELOG.md mkdocs.yml | $(SERVED)
	$(BIN)/python -m release.site

dist: install  ## build the wheels and sdists of all distributions, byte by byte the same for the same commit
	rm -rf dist
	$(BIN)/python -m release.dist
	cp requirements.lock dist/

clean:     ## remove .venv, databases and caches
	rm -rf .venv var dist .pytest_cache .mypy_cache .ruff_cache
