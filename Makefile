# Every verb is one line calling a module; `make` lists them. Flags are variables: make ingest SOURCE=folder LIMIT=50
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet -c constraints.txt
# Exit code 5 is "done, but rows were rejected or items cannot be scored": the next stage goes on after it, unless STRICT=1.
GO_ON := $(if $(STRICT),,|| test $$? -eq 5)

# What is given on make's command line reaches the stages. A variable of the same name in the shell does not, as it may
# be there for another program: it is named on stderr. GOLDSPAN_<NAME> of the shell reaches them.
FLAGS := ALL BENCHMARKS CHUNKERS CONFIG CONFIG_READS DEBUG ENGINE FULL ITEM_TEXT ITEMS JSON LAKE LIMIT METRICS NEEDS PORT PUBLISHED QUIET REPEAT REPOSITORIES ROWS SINCE SITE SOURCE SUBMISSIONS SUBSETS SYSTEMS TASKS TIMEOUT URL VECTORS
from = $(sort $(foreach name,$2,$(if $(filter $1,$(firstword $(origin $(name)))),$(name))))
$(foreach flag,$(call from,command,$(FLAGS)),$(eval export GOLDSPAN_$(flag) := $($(flag))))

KNOWN := $(FLAGS) BENCH PYTHON STRICT
UNKNOWN := $(firstword $(filter-out $(KNOWN) GOLDSPAN_%,$(call from,command,$(.VARIABLES))))
CLOSE = $(shell $(PYTHON) -c 'import difflib, sys; print(*difflib.get_close_matches(sys.argv[1], sys.argv[2:], 1))' '$(UNKNOWN)' $(KNOWN))
$(if $(UNKNOWN),$(error unknown variable $(UNKNOWN)$(foreach name,$(CLOSE),; did you mean $(name)?)))

more = $(foreach chunker,syntax-1500 fixed-nws-1500,$(foreach name,bm25-code identifiers symbols tfidf hybrid,$(chunker)+$(name)))
PUBLISHED_SYSTEMS := *+bm25-okapi *+jaccard-regex *+oracle *+own-file *+random whole-file+edit-regex $(more) minisweagent* sweagent*

SHELL_FLAGS := $(if $(filter ingest evaluate report serve clean,$(MAKECMDGOALS)),$(call from,environment,$(FLAGS)))
$(if $(SHELL_FLAGS),$(shell echo 'make: not taken from the shell: $(SHELL_FLAGS). Give it to make, as in: make ingest LAKE=folder' >&2))

.PHONY: help ingest evaluate report published serve chunkers dense dask everything test test-slow check bench lock clean

help:  ## List the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

ingest: .venv/.default  ## Raw benchmarks into the lake: SOURCE=sample|hub|FOLDER BENCHMARKS= SUBSETS= CHUNKERS= LIMIT= NEEDS=1 REPOSITORIES=github CONFIG=FILE.yaml CONFIG_READS=FOLDER ENGINE=local:N|dask://HOST:PORT
	@$(BIN)/python -m ingest $(GO_ON)

evaluate: .venv/.default  ## Run the systems and score them: SYSTEMS= TASKS= ITEMS= METRICS= LIMIT= ENGINE=local:N|dask://HOST:PORT
	@$(BIN)/python -m evaluate $(GO_ON)

report: .venv/.default  ## Write the site: SITE=site/public URL=where it will be published SINCE=FOLDER (an earlier one: what changed) ITEM_TEXT=none|flips|sample|full
	@$(BIN)/python -m report $(GO_ON)

published: .venv/.default  ## Measure the published results again: SOURCE=FOLDER of the benchmarks' own data LAKE=an empty folder
	@$(BIN)/python -m ingest --needs --chunkers fixed-nws-1500,fixed-nws-800,syntax-1500,whole-file,definition $(GO_ON)
	@$(BIN)/python -m evaluate --systems '$(PUBLISHED_SYSTEMS)' $(GO_ON)
	@$(BIN)/python -m report publish repoeval --edition function --label 'function level'
	@$(BIN)/python -m report publish repobench-r --edition mined --label mined
	@$(BIN)/python -m report publish contextbench --edition 50 --label '50 of 1,136'

serve: .venv/.default  ## Serve the site over HTTP on this machine only: PORT=8000
	@$(BIN)/python -m report serve

chunkers: .venv/.chunkers  ## Install the chunkers of other libraries: CHUNKERS=libraries

PYTEST = $(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# Tests start many processes; without stored bytecode each would compile the code again.
test test-slow: export PYTHONDONTWRITEBYTECODE =

test: .venv/.dev  ## Run the tests that are done in minutes
	@$(PYTEST) -m "not slow"

test-slow: .venv/.dev  ## Run the others: whole stages, a browser, others' code, real data, killing and damaging
	@$(PYTEST) -m slow

check: .venv/.dev  ## Lint, format, types, import contracts
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

bench: .venv/.dev  ## Measure speed and memory beside named peers: SOURCE=FOLDER BENCH=name FULL=1 (contextbench at its published size)
	@$(BIN)/python -m tests.bench $(BENCH)

dense: .venv/.dense  ## Install what dense retrieval needs: torch, and models' code
	@true

dask: .venv/.dask  ## Install what several machines need: ENGINE=dask://HOST:PORT
	@true

lock: .venv/.dev  ## Resolve the exact pins anew from pyproject.toml
	@$(INSTALL) 'uv>=0.9,<1' && $(BIN)/python -m tests.lock && git diff --stat 'requirements*.txt'

clean: .venv/.default  ## Delete the lake but for imported runs and downloads, and the site: ALL=1 (those too)
	@$(BIN)/python -m ingest clean
	@rm -rf site/public

.venv/.default: requirements.txt constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Goldspan needs Python 3.11 or newer; this is %d.%d: make PYTHON=python3.12 …" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@echo "setting up .venv (once)" >&2
	@$(PYTHON) -m venv .venv
	@$(INSTALL) --upgrade pip
# Python 3.11 brings an old one along, which nothing here needs; what needs it later names its own.
	@$(PIP) uninstall -qq --yes setuptools
	@$(INSTALL) -r requirements.txt
	@touch $@

.venv/.chunkers: .venv/.default requirements-chunkers.txt
	@$(INSTALL) -r requirements-chunkers.txt
	@touch $@

.venv/.dev: .venv/.default requirements-dev.txt
	@$(INSTALL) -r requirements-dev.txt
	@touch $@

.venv/.dense: .venv/.default requirements-dense.txt
	@$(INSTALL) torch==2.13.0
	@$(INSTALL) -r requirements-dense.txt
	@touch $@

.venv/.dask: .venv/.default requirements-dask.txt
	@$(INSTALL) -r requirements-dask.txt
	@touch $@

everything: .venv/.default requirements-dev.txt requirements-dense.txt requirements-dask.txt  ## Install what all tests need, in one go
	@$(INSTALL) torch==2.13.0 -r requirements-dev.txt -r requirements-dense.txt -r requirements-dask.txt
	@touch .venv/.chunkers .venv/.dev .venv/.dense .venv/.dask
