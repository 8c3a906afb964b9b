# Needs python3 (3.11 or newer, with venv) and make; everything else goes into .venv.
# Another interpreter: make install PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# More workers than two only compete for memory while numba compiles.
PYTEST_FLAGS ?= -n auto --maxprocesses 2
# How long a campaign goes on: short or full.
export MCQUACK_CAMPAIGN ?= full
# The folders whose tests depend on how the processor computes.
NUMERICAL := $(addprefix tests/,circuits contracts kernels models report simulators studies training)
# The folders whose tests compile most of the code.
COMPILED := $(addprefix tests/,simulators training)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test campaign portable plain lint format types contracts docs paper check dist hooks peers bench clean

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s%s\n", $$1, $$2 }'

# One stamp per finished step: a second call is quick, and a changed pyproject.toml installs anew.
$(VENV)/.runtime: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "mcquack needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true);" \
			"name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
		echo "'$(PYTHON) -m venv' failed; install the venv module of your Python (Debian, Ubuntu: python3-venv)." >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

install: $(VENV)/.dev  ## make .venv with mcquack and all that development needs

demo: $(VENV)/.runtime  ## install mcquack alone and run its demonstration
	$(BIN)/mcquack demo

test: install  ## run the tests
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

campaign: install  ## run the long tests, and tell their counts: more kills, more faults, more examples
	HYPOTHESIS_PROFILE=campaign $(BIN)/python -m pytest $(PYTEST_FLAGS) -m "campaign or hypothesis"

portable: install  ## run the numerical tests as a processor with narrower registers would
	$(BIN)/python -m tests.lesser_processor $(BIN)/python -m pytest $(PYTEST_FLAGS) $(NUMERICAL)

plain: install  ## run the tests of compiled code with plain Numba, as a version that is newer than those tested compiles
	MCQUACK_PLAIN_NUMBA=1 $(BIN)/python -m pytest $(PYTEST_FLAGS) $(COMPILED)

lint: install  ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: install  ## mend style and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install  ## check types
	$(BIN)/mypy

contracts: install  ## check which module may import which
	$(BIN)/lint-imports

# The pages of the studies first. Notebooks run and warnings are errors. Then all links of the site are followed, and it is looked at in a browser.
docs: install  ## build the site, docs/_build/html/index.html, and check it
	$(BIN)/python -m studies.reports
	$(BIN)/python -m sphinx --builder html --conf-dir docs --doctree-dir docs/_build/doctrees --jobs 2 \
		--nitpicky --fail-on-warning --keep-going --quiet . docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html
	$(BIN)/python -m pytest tests/browser/test_site.py

# Other options: make paper PAPER_FLAGS="--quick --out quick-site"
paper: install  ## write the site that shows the paper beside ours, paper-site/index.html
	$(BIN)/python -m studies.paper $(PAPER_FLAGS)

check: lint types contracts test  ## all checks and the tests

dist: install  ## build wheel and source archive, and try them in fresh environments of each Python that is found
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m tests.fresh_environments dist/*

hooks: install  ## run the checks before each commit
	$(BIN)/pre-commit install

peers: install  ## install the libraries the benchmarks compare with (gigabytes)
	$(BIN)/python -m pip install --editable ".[peers]"

bench: install  ## measure speed against the peers that are installed
	$(BIN)/python -m benchmarks.step
	$(BIN)/python -m benchmarks.step --large
	$(BIN)/python -m benchmarks.gates
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.fit
	$(BIN)/python -m benchmarks.whole_fits
	$(BIN)/python -m benchmarks.variational
	$(BIN)/python -m benchmarks.rivals
	$(BIN)/python -m benchmarks.many_fits
	$(BIN)/python -m benchmarks.predict
	$(BIN)/python -m benchmarks.laboratory
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.ring

clean:  ## remove .venv, caches and build products
	rm -rf docs/_build docs/reference/generated
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks docs studies -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
