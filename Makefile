# make demo    two orders, one approved and one cancelled, with SWF and a worker as processes here
# make test    everything a change must pass: ruff, mypy, basedpyright, pytest
# make oldest  the tests of what is built on libraries, with the oldest versions that setup.cfg allows; on Python 3.11
# make docs    the documentation as a site, in build/docs; warnings are errors
#
# PYTHON names the interpreter that the virtual environment VENV is made with; Python 3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST_ARGS ?= -q

.PHONY: help venv test unit lint types oldest demo bench docs clean

help:
	@sed -n '/^# make/s/^# //p' Makefile
	@echo 'also: make venv lint types unit bench clean'

# The stamps make a second run skip the installation; a change of what is installed voids them.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'flowpy needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)' >&2; exit 1; }
	@rm -rf $(VENV)
	@echo 'making $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.test: $(VENV)/.made setup.cfg pyproject.toml
	@echo 'installing flowpy and what its tests need into $(VENV)'
	@$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@echo 'installing the checkers into $(VENV)'
	@$(PIP) --editable '.[test,lint]'
	@touch $@

venv: $(VENV)/.lint

test: lint types unit

lint: $(VENV)/.lint
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

types: $(VENV)/.lint
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/basedpyright --level error --pythonpath $(BIN)/python

unit: $(VENV)/.test
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

.venv-oldest/.made: setup.cfg pyproject.toml
	@rm -rf .venv-oldest
	@$(PYTHON) -m venv .venv-oldest
	@sed -n 's/^ *\([a-z0-9-]*\) >= \([0-9.]*\)$$/\1==\2/p' setup.cfg | sort -u >.venv-oldest/oldest.txt
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-oldest/oldest.txt \
	  --editable '.[cli,encryption,otel,server]' hypothesis opentelemetry-sdk pytest structlog
	@touch $@

oldest: .venv-oldest/.made
	@.venv-oldest/bin/python -m pytest $(PYTEST_ARGS) tests/cases tests/cli tests/data tests/declare tests/history \
	  tests/interceptors tests/replay tests/runtime tests/service tests/telemetry tests/testing tests/view

demo: $(VENV)/.test
	@$(BIN)/python samples/demo.py

# What the site is built with is installed apart from what the tests need.
.venv-docs/.made: setup.cfg pyproject.toml
	@rm -rf .venv-docs
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: .venv-docs/.made
	@.venv-docs/bin/python -m sphinx --builder html --fail-on-warning --nitpicky --keep-going --quiet docs build/docs
	@echo 'built: build/docs/index.html'

# The peers that flowpy is measured beside are installed apart from what its tests need.
.venv-bench/.made: benchmarks/requirements.txt setup.cfg pyproject.toml
	@rm -rf .venv-bench
	@$(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt --editable .
	@touch $@

# Ratios only: see benchmarks/README.md.
bench: .venv-bench/.made
	@.venv-bench/bin/python benchmarks/replay.py $(BENCH_ARGS)

clean:
	rm -rf .venv .venv-* build dist src/*.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
