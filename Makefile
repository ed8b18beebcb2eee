# netinv: `make help` lists the targets.

PYTHON ?= python3
BIN := .venv/bin
PACKAGES := $(patsubst %/setup.cfg,%,$(wildcard netinv_*/setup.cfg)) .
LOCKS := requirements.lock requirements-dev.lock
SERVED := .venv/.served
INSTALLED := .venv/.installed
PORT ?= 8000
POSTGRESQL ?= postgresql://postgres@127.0.0.1:5432/postgres
MARIADB ?= mysql://root@127.0.0.1:3306/test
INPUTS ?= few
REDIS ?= redis://127.0.0.1:6379/9
PLUGINS := .venv/plugins
PACKAGED := .venv/packages
FOLDERS := $(wildcard plugins/netinv_*)
# Selects the tests of packages, and the checks of the contract for their resources: "asns. or contacts. …"
OF_PACKAGES := $(subst $() $(), or ,$(patsubst plugins/netinv_%,%.,$(FOLDERS)))
QUICK := not slow and not crash and not browser and not repetition and not directory
ON_SERVERS ?= not any_database and not repetition and not other_server
PROVIDER := .venv/provider
GENERATORS := .venv/generators
SITE := netinv_web/site/index.html
LDAP := .venv/ldap
MCP := .venv/mcp
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := PYTHONPATH=$(PLUGINS) $(BIN)/python -m pytest -q -n 2 --dist each --parts

# Compiling the tests, whose assertions pytest rewrites, takes 10 s of every process unless the result is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install run test coverage test-packages test-all bench trace compare lint lock docs dist clean

help:      ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## */\t/' | expand -t 12

install: $(INSTALLED)  ## create .venv with the versions of requirements.lock and requirements-dev.lock

# What a service needs, and MkDocs for its documentation. A .venv that could not be filled at first is removed.
$(SERVED): $(LOCKS) setup.cfg setup.py VERSION $(wildcard netinv_*/setup.cfg)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "netinv needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": make run PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || (rm -rf .venv; exit 1)
	@$(PIP) -r requirements.lock -c requirements-dev.lock mkdocs setuptools wheel || (test -e $@ || rm -rf .venv; exit 1)
	@$(PIP) --no-deps --no-build-isolation $(addprefix -e ./,$(PACKAGES)) || (test -e $@ || rm -rf .venv; exit 1)
	@touch $@

$(INSTALLED): $(SERVED)
	@$(PIP) $(addprefix -r ,$(LOCKS))
	@touch $@

run: $(SERVED) $(SITE)  ## migrate a SQLite file, create the first user, run service and worker on 127.0.0.1:8000 (PORT=8001 for another port)
	@mkdir -p var
	@$(BIN)/netinv migrate
	@$(BIN)/netinv user create admin --email admin@example.com --superuser --with-token --unless-any
	@echo "pages     http://127.0.0.1:$(PORT)/   (sign in as admin; the password was printed once, \`$(BIN)/netinv user password admin\` sets another)"
	@echo "API       http://127.0.0.1:$(PORT)/api/ and http://127.0.0.1:$(PORT)/api/docs/ (Ctrl-C stops)"
	@$(BIN)/pserve development.ini port=$(PORT)

# The example plugin is installed beside the service, for the tests only.
$(PLUGINS): install $(shell find plugins/example -type f)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target $@ ./plugins/example
	@touch $@

# The optional packages are installed for tests of their own, so that no other test is slower with them.
$(PACKAGED): install $(shell find plugins/netinv_* -type f -not -path '*/build/*' -not -path '*.egg-info/*')
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target $@ $(addprefix ./,$(FOLDERS))
	@touch $@

# The OpenID Connect provider of the tests is a process of its own, with libraries of its own.
$(PROVIDER): install requirements-provider.lock
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ -r requirements-provider.lock

# python-ldap is compiled: that needs libldap2-dev and libsasl2-dev. The tests start slapd.
$(LDAP): install requirements-ldap.lock
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ -r requirements-ldap.lock

# The SDK of the Model Context Protocol brings an HTTP stack of its own, which no other part of the service needs.
$(MCP): install requirements-mcp.lock
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $@ -r requirements-mcp.lock
	@touch $@

# Generators of clients: the tests have them read the OpenAPI document, and call the service with what they write.
$(GENERATORS): install requirements-generators.lock $(wildcard tests/support/typescript/package*.json)
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ -r requirements-generators.lock
	@mkdir $@/typescript && cp tests/support/typescript/package*.json $@/typescript
	@npm ci --prefix $@/typescript --silent --no-audit --no-fund

test: $(PLUGINS)  ## run the tests on SQLite, without the slow ones and with an eighth of the contract
	$(PYTEST) --input-seed=0 -m "$(QUICK)"

coverage: $(PLUGINS)  ## run the same tests and print the line and branch coverage of each module
	$(PYTEST) --input-seed=0 -m "not slow and not crash and not browser and not directory" --cov --cov-report=term --cov-report=html:var/coverage

# The seeds differ, so that the databases get different generated input; INPUTS=many or all makes more of it.
test-packages: $(PLUGINS) $(PACKAGED)  ## run the tests and the whole contract of the optional packages in plugins/, on SQLite (OPTIONS="-m 'not repetition'")
	PYTHONPATH=$(PLUGINS):$(PACKAGED) $(BIN)/python -m pytest -q -n 2 --dist each --parts --input-seed=0 -k "$(OF_PACKAGES)" $(OPTIONS) plugins tests/test_contract.py tests/web/test_contract_pages.py

# Slow tests wait for processes, so two cores have time for three.
test-all: $(PLUGINS) $(PACKAGED) $(PROVIDER) $(LDAP) $(MCP) $(GENERATORS)  ## run the rest on SQLite, the tests in Chromium, those with directories and the SDK of agents, those of the packages without repetitions, and those of a database on PostgreSQL and MariaDB with Redis (ON_SERVERS="not any_database" for the whole contract there)
	$(PYTEST) -n 3 --input-seed=0 -m "(slow or crash or repetition) and not browser and not directory"
	$(PYTEST) --input-seed=0 -m browser tests/browser
	PYTHONPATH=$(PLUGINS):$(LDAP):$(MCP) $(BIN)/python -m pytest -q -n 2 --dist each --parts --input-seed=0 -m directory tests/oidc tests/ldap tests/agents
	$(MAKE) test-packages OPTIONS="-m 'not repetition'"
	NETINV_TEST_DATABASE=$(POSTGRESQL) $(MAKE) test-packages OPTIONS="-m 'not any_database and not repetition'"
	NETINV_TEST_DATABASE=$(MARIADB) $(MAKE) test-packages OPTIONS="-m 'not any_database and not repetition'"
	NETINV_TEST_DATABASE=$(POSTGRESQL) NETINV_TEST_QUEUE=$(REDIS) $(PYTEST) --inputs=$(INPUTS) --input-seed=1 -m "$(ON_SERVERS)"
	NETINV_TEST_DATABASE=$(MARIADB) NETINV_TEST_QUEUE=$(REDIS) $(PYTEST) --inputs=$(INPUTS) --input-seed=2 -m "$(ON_SERVERS)"

bench: install  ## run the benchmark on PostgreSQL (BENCH="--sqlite --json out.json …", see BENCH=--help)
	$(BIN)/python -m bench $(BENCH)

trace: install  ## functions, files and SQL statements that requests enter (TRACE="--functions --only PATCH")
	$(BIN)/python -m bench.trace $(TRACE)

compare: install  ## compare the answers of two services (COMPARE="http://reference http://netinv --only dcim.*", see COMPARE=--help)
	$(BIN)/python -m compare $(COMPARE)

lint: install  ## run ruff (rules and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

lock:      ## write both locks from what setup.cfg and requirements-dev.in declare (LOCK=--upgrade takes newer versions)
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
