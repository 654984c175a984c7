# `make demo` and `make test` need nothing but python3 (3.11 or newer) and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo tour test test-all bench results hides onset pages docs lint checker device-bundle clean

help:  ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A forecast whose answer is no ends with 1; it has said so, which is what a demo is for.
demo: $(VENV)/.test  ## how long must training be for a small task? measured here, in about a minute
	@echo "Strings of 0, 1, 2; the target is sin(4 (zeros - ones) / (zeros + ones)). How long must training strings be?"
	@$(BIN)/lengthwise forecast simple:omega=4 --loss 0.01 --out studies/demo || test $$? -eq 1
	@echo
	@echo "Next: $(BIN)/lengthwise reproduce figure1 --scale quick"

tour: $(VENV)/.test  ## a short tour of models with explicit weights, with real numbers
	@$(BIN)/python examples/tour.py

test: $(VENV)/.test  ## the tests, without the slow ones
	$(BIN)/python -m pytest -n $(WORKERS) -q

test-all: $(VENV)/.test  ## every test
	$(BIN)/python -m pytest -n $(WORKERS) -q -m ""

bench: $(VENV)/.test  ## the benchmarks, into benchmarks/results/
	@for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit $$?; done
	$(BIN)/python docs/make_benchmarks.py

results: $(VENV)/.test  ## the miniatures of the published figures once more, into results/quick
	$(BIN)/python results/make_results.py --scale quick --results results/quick

hides: $(VENV)/.test  ## the ten models that hide their worst strings, and their adversarial twins, into results/hides
	$(BIN)/python results/make_hides.py

onset: $(VENV)/.test  ## the models of the page on hard attention, trained and measured again
	$(BIN)/python results/make_onset.py
	$(BIN)/python docs/make_onset.py

pages: $(VENV)/.test  ## rewrites the generated pages: commands, golden examples, the protocol, benchmarks
	$(BIN)/python docs/make_help.py
	$(BIN)/python docs/make_golden.py
	$(BIN)/python docs/make_protocol.py
	$(BIN)/python docs/make_benchmarks.py

docs: $(VENV)/.docs  ## the pages, into docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

lint: $(VENV)/.test  ## style, format, the import contract, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy --strict

DIST := dist
checker:  ## the independent checker of certificates as one file that needs only a Python: dist/lengthwise-check.pyz
	@rm -rf $(DIST)/.checker && mkdir -p $(DIST)/.checker/lengthwise_check
	@cp src/lengthwise/check/*.py $(DIST)/.checker/lengthwise_check
	@$(PYTHON) -m zipapp $(DIST)/.checker -m lengthwise_check:main -o $(DIST)/lengthwise-check.pyz && rm -r $(DIST)/.checker
	@echo "$(DIST)/lengthwise-check.pyz"

# What a bare GPU machine with jax, numpy, scipy, optax, matplotlib and safetensors still lacks.
device-bundle: $(VENV)/.test  ## wheels for a GPU machine, one folder for its PYTHONPATH
	rm -rf $@
	$(INSTALL) --target $@ --no-deps --only-binary=:all: --python-version 3.12 click rich markdown-it-py mdurl pygments \
	    msgspec lark jinja2 markupsafe python-flint jaxtyping wadler-lindig
	@du -sh $@

clean:  ## removes what make made
	rm -rf $(VENV) device-bundle docs/_build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.test: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "wanted Python 3.11 or newer; got $$($(PYTHON) --version 2>&1); name a newer one: make PYTHON=python3.13" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[test]'
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(INSTALL) -e '.[docs]'
	@touch $@
