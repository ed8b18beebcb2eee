# netinv: `make help` lists the targets.

PYTHON ?= python3
BIN := .venv/bin
PACKAGES := $(patsubst %/setup.cfg,%,$(wildcard netinv_*/setup.cfg)) .
LOCKS := requirements.lock requirements-dev.lock
INSTALLED := .venv/.installed
POSTGRESQL ?= postgresql://postgres@127.0.0.1:5432/postgres
MARIADB ?= mysql://root@127.0.0.1:3306/test
INPUTS ?= few
REDIS ?= redis://127.0.0.1:6379/9
PLUGINS := .venv/plugins
QUICK := not slow and not crash and not browser and not repetition and not directory
PROVIDER := .venv/provider
SITE := netinv_web/site/index.html
LDAP := .venv/ldap
PYTEST := PYTHONPATH=$(PLUGINS) $(BIN)/python -m pytest -q -n 2 --dist worksteal

# Compiling the tests, whose assertions pytest rewrites, takes 10 s of every process unless the result is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install run test coverage test-all bench trace compare lint lock docs dist clean

help:      ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## */\t/' | expand -t 12

install: $(INSTALLED)  ## create .venv with the versions of requirements.lock and requirements-dev.lock

$(INSTALLED): $(LOCKS) setup.cfg setup.py VERSION $(wildcard netinv_*/setup.cfg)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(addprefix -r ,$(LOCKS))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(addprefix -e ./,$(PACKAGES))
	touch $@

run: install $(SITE)  ## migrate a SQLite file, create the first user, run service and worker on 127.0.0.1:8000
	@mkdir -p var
	@$(BIN)/netinv migrate
	@$(BIN)/netinv user create admin --email admin@example.com --superuser --with-token --unless-any
	@echo "pages     http://127.0.0.1:8000/   (sign in as admin; the password was printed once, \`$(BIN)/netinv user password admin\` sets another)"
	@echo "API       http://127.0.0.1:8000/api/ and http://127.0.0.1:8000/api/docs/ (Ctrl-C stops)"
	@$(BIN)/pserve development.ini

# The example plugin is installed beside the service, for the tests only.
$(PLUGINS): install $(shell find plugins/example -type f)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target $@ ./plugins/example
	@touch $@

# The OpenID Connect provider of the tests is a process of its own, with libraries of its own.
$(PROVIDER): install requirements-provider.lock
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ -r requirements-provider.lock

# python-ldap is compiled: that needs libldap2-dev and libsasl2-dev. The tests start slapd.
$(LDAP): install requirements-ldap.lock
	@rm -rf $@
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ -r requirements-ldap.lock

test: $(PLUGINS)  ## run the tests on SQLite, without the slow ones and with an eighth of the contract
	$(PYTEST) --input-seed=0 -m "$(QUICK)"

coverage: $(PLUGINS)  ## run the same tests and print the line and branch coverage of each module
	$(PYTEST) --input-seed=0 -m "not slow and not crash and not browser and not directory" --cov --cov-report=term --cov-report=html:var/coverage

# The seeds differ, so that the databases get different generated input; INPUTS=many or all makes more of it.
test-all: $(PLUGINS) $(PROVIDER) $(LDAP)  ## run the rest on SQLite, the tests in Chromium, those with directories, and nearly all on PostgreSQL and MariaDB with Redis
	$(PYTEST) --input-seed=0 -m "(slow or crash or repetition) and not browser and not directory"
	$(PYTEST) --input-seed=0 -m browser tests/browser
	PYTHONPATH=$(PLUGINS):$(LDAP) $(BIN)/python -m pytest -q -n 2 --dist loadfile --input-seed=0 -m directory tests/oidc tests/ldap
	NETINV_TEST_DATABASE=$(POSTGRESQL) NETINV_TEST_QUEUE=$(REDIS) $(PYTEST) --inputs=$(INPUTS) --input-seed=1 -m "not any_database"
	NETINV_TEST_DATABASE=$(MARIADB) NETINV_TEST_QUEUE=$(REDIS) $(PYTEST) --inputs=$(INPUTS) --input-seed=2 -m "not any_database"

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
$(SITE): $(wildcard docs/*.md) CONTRIBUTING.md CHANGELOG.md mkdocs.yml | $(INSTALLED)
	$(BIN)/python -m release.site

dist: install  ## build the wheels and sdists of all distributions, byte by byte the same for the same commit
	rm -rf dist
	$(BIN)/python -m release.dist
	cp requirements.lock dist/

clean:     ## remove .venv, databases and caches
	rm -rf .venv var dist .pytest_cache .mypy_cache .ruff_cache
