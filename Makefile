# Two commands for people: `make demo` and `make test`. Everything lives in .venv.
PYTHON ?= python3
EXTRAS ?= dev
VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
# A process of tests that ends before its time is a failure, at once: with another in its place, pytest-xdist may wait for ever.
PYTEST := python -m pytest -n 2 --dist loadfile --max-worker-restart 0
# What a test may take, in seconds; then it shows where it is and fails. Most take less than one.
HANGS := -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true

.PHONY: demo test test-long test-oldest parity crosscheck lint coverage docs wheel bench reproduce soak fuzz clean

demo: $(VENV)/.installed
	$(BIN)/systola solve knapsack:1000-1000 --algorithm sgs-b

test: $(VENV)/.installed-$(EXTRAS)
	$(BIN)/$(PYTEST) $(HANGS) -m "not long"

# Folder by folder: compiled kernels stay in memory, and a process that had most of these tests took 11 GiB.
test-long: $(VENV)/.installed-$(EXTRAS)
	$(BIN)/$(PYTEST) -m long tests/test_*.py
	for folder in $(sort $(dir $(wildcard tests/*/test_*.py))); do \
	  $(BIN)/$(PYTEST) -m long $$folder || [ $$? = 5 ] || exit 1; \
	done

# All backends against each other, GPU code executed on the CPU (needs gcc): first what is covered, then the runs.
parity: $(VENV)/.installed-dev,cu13
	$(BIN)/python -m pytest tests/parity tests/ptx
	$(BIN)/python -m pytest -n 2 tests/golden tests/backends

# The same tests with the oldest versions that are allowed; PYTHON must be one that these are made for, 3.10 to 3.12.
test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/$(PYTEST) -m "not long"

crosscheck: $(VENV)/.installed-$(EXTRAS)
	$(BIN)/$(PYTEST) -m long tests/crosscheck

# Goes on where it was; KILLS=2000 for more.
KILLS ?= 1000
soak: $(VENV)/.installed-$(EXTRAS)
	$(BIN)/python tests/soak/soak.py --kills $(KILLS)

lint: $(VENV)/.installed-$(EXTRAS)
	$(BIN)/ruff check src tests benchmarks examples docs/*.py
	$(BIN)/ruff format --check src tests benchmarks examples docs/*.py
	$(BIN)/mypy

# Lines that Python executed; bodies of compiled kernels are not among them, their naive twins are what tests these.
coverage: $(VENV)/.installed-$(EXTRAS)
	mkdir -p build/coverage
	$(BIN)/$(PYTEST) -m "not long" --cov --cov-report=term --cov-report=html

# The site, in site/; a link, an anchor or a reference that leads nowhere is an error.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m mkdocs build --strict

# A wheel and a source archive in dist/; then the wheel alone in an empty environment, away from the sources.
EMPTY := $(CURDIR)/build/empty
wheel: $(VENV)/.installed-$(EXTRAS)
	rm -rf dist $(EMPTY)
	$(BIN)/python -m build
	$(PYTHON) -m venv $(EMPTY)
	$(EMPTY)/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd $(EMPTY) && env -u PYTHONPATH bin/systola --version
	cd $(EMPTY) && env -u PYTHONPATH bin/systola solve knapsack:100-100 --seconds 1 --json > solved.json
	cd $(EMPTY) && env -u PYTHONPATH bin/python -c "from systola.lab.published import load_figures; load_figures('sgs', 3)"

bench: $(VENV)/.installed-$(EXTRAS)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check deap pymoo pygmo
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/qap_speed.py
	$(BIN)/python benchmarks/flowshop_speed.py
	$(BIN)/python benchmarks/archive_speed.py

# Goes on where it was, by results/fuzz.json, until that has all inputs.
fuzz: $(VENV)/.installed-$(EXTRAS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[fuzz]"
	$(BIN)/python tests/fuzz/run.py

reproduce: $(VENV)/.installed-$(EXTRAS)
	$(BIN)/systola reproduce sgs

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-%: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	touch $@

$(OLDEST)/.installed: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) build dist site
