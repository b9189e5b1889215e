# What CONTRIBUTING.md describes, by name. PYTHON is any Python >= 3.11 with the package and its `test` extra.
PYTHON ?= .venv/bin/python

.PHONY: setup test lint format goldens bench bench-seeds example clean

setup:            ## a virtual environment with everything that tests and benchmarks need
	python3 -m venv .venv
	.venv/bin/python -m pip install --quiet -e '.[test,bench]'

test:             ## the test suite
	$(PYTHON) -m pytest

lint:             ## what CI checks besides the tests
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
	$(dir $(PYTHON))lint-imports

format:
	$(PYTHON) -m ruff format
	$(PYTHON) -m ruff check --fix

goldens:          ## rewrite the golden files; read the diff before you commit it
	$(PYTHON) -m pytest --rewrite-golden --numprocesses=0

bench:            ## tables of tests/benchmarks, CSV and PNG in bench-results/; NAME="match worst" for some, LARGE=1 for 10 million
	$(PYTHON) tests/benchmarks/run.py $(if $(filter-out 0,$(LARGE)),--large) $(NAME)

bench-seeds:      ## the figures and tables of the papers, measured again: CSV and PNG in bench-results/seeds; NAME as above
	$(PYTHON) tests/benchmarks/run_seeds.py $(NAME)

example:          ## the grocery example of README.md
	$(PYTHON) -m profilec match examples/grocery examples/grocery/sales.ndjson --only-matches

clean:
	rm -rf build dist bench-results *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
