# One entry point for everything: `make help`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Byte code is kept whatever the caller's environment says: tests start Python hundreds of times.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
# Any Python from 3.11 on; `make PYTHON=/path/to/python setup` chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done)
# Processes that run Python tests at the same time: one more than processors, because some tests wait for a server, a
# browser or a clock.
JOBS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

# The kernel for the lab on the site.
WASM := build/wasm/kernel.wasm
KERNEL := diskmodel/engine/kernel

RUST_SOURCES := $(shell find diskmodel calibrate -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# Cargo builds against the Python of the virtual environment, also when it is called outside of pip, and links no libpython.
CARGO_ENV = PYO3_PYTHON=$(abspath $(BIN)/python) PYO3_BUILD_EXTENSION_MODULE=1
PIP := $(BIN)/python -m pip --disable-pip-version-check

##@ Use

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(VENV)/.installed ## Create .venv with the locked dependencies and build the project into it (skipped when up to date)

.PHONY: demo
demo: setup ## Measure this machine's disk, calibrate a model of it, and plan arrays with it (under five minutes)
	$(BIN)/diskmodel demo

##@ Build

.PHONY: build
build: $(VENV)/.dependencies ## Build the native kernel and the micro-benchmark into .venv, always
	rm -f $(VENV)/.installed
	$(MAKE) $(VENV)/.installed

.PHONY: wasm
wasm: $(WASM) ## Build the kernel as WebAssembly for the lab on the site (needs the target of rustup, or Debian's rustc-web)
	@ls -l $(WASM)

.PHONY: wasm-if-possible
wasm-if-possible:
	@$(MAKE) wasm || echo "The site is built without the live lab, and says so where it would be."

.PHONY: dist
dist: $(VENV)/.dependencies ## Build the sdist, and the wheel from it, into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	@ls -l dist

# Not --quiet: it would keep the warnings from --strict, too.
.PHONY: docs
docs: pages ## Build the documentation into site/, warnings are errors
	PYTHONPATH=docs NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python -m tests.docs.links site

# The same configuration without what only MkDocs takes: the words of the search, and the order of pages.
.PHONY: docs-zensical
docs-zensical: pages $(VENV)/.zensical ## Build the same pages with another builder, Zensical, into build/zensical
	sed -e '/^  - search_words$$/d' -e '/^  - awesome-nav$$/d' -e 's|^docs_dir:.*|docs_dir: pages|' \
		-e 's|^site_dir:.*|site_dir: zensical|' mkdocs.yml > build/zensical.yml
	$(BIN)/zensical build --strict --config-file build/zensical.yml
	$(BIN)/python -m tests.docs.links build/zensical

.PHONY: pages
pages: setup wasm-if-possible ## Write all pages of the documentation as plain files into build/pages
	$(BIN)/python docs/plain_pages.py build/pages

.PHONY: docs-serve
docs-serve: pages ## Serve the documentation while it is edited (`make pages` in another terminal shows an edit)
	PYTHONPATH=docs NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

##@ Check

# Tests of a part that is not a command or a server: they start no process and simulate little.
QUICK := tests/unit tests/property tests/engines --ignore=tests/unit/cli --ignore=tests/unit/lab

.PHONY: check
check: setup ## Lint, and run the quick unit tests: for every save (under a minute)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet . || { echo "Not formatted: run make fmt" >&2; exit 1; }
	$(BIN)/lint-imports --no-cache > /dev/null || $(BIN)/lint-imports --no-cache
	cargo fmt --all --check
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup $(QUICK)

.PHONY: fmt
fmt: setup ## Format Python and Rust
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	cargo fmt --all

.PHONY: lint
lint: $(VENV)/.dependencies ## Lint Python (ruff, import-linter) and Rust (clippy, rustfmt), warnings are errors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet . || { echo "Not formatted: run make fmt" >&2; exit 1; }
	$(BIN)/lint-imports --no-cache
	cargo fmt --all --check
	$(CARGO_ENV) cargo clippy --locked --workspace --all-targets --quiet -- -D warnings

# What PyO3 would ask a Python without a global lock.
FREE_THREADED := implementation=CPython\nversion=3.14\nshared=true\nabi3=false\nlib_name=python3.14t\npointer_width=64
FREE_THREADED := $(FREE_THREADED)\nbuild_flags=Py_GIL_DISABLED\nsuppress_build_script_link_lines=true\n

# Needs their standard libraries: rustup target add x86_64-pc-windows-gnu aarch64-apple-darwin
.PHONY: check-systems
check-systems: ## Check that the kernel compiles for Windows, macOS and free-threaded Pythons (without linking)
	for system in x86_64-pc-windows-gnu aarch64-apple-darwin; do \
		PYO3_NO_PYTHON=1 cargo check --locked --quiet --target $$system --package diskmodel-python; done
	mkdir -p build && printf '$(FREE_THREADED)' > build/free-threaded.txt
	PYO3_CONFIG_FILE=$(abspath build/free-threaded.txt) CARGO_TARGET_DIR=target/free-threaded \
		cargo check --locked --quiet --package diskmodel-python

.PHONY: types
types: $(VENV)/.dependencies ## Check the types of the Python code
	$(BIN)/mypy

.PHONY: test
test: test-rust setup ## Run the fast tests: Rust's, then Python's
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

.PHONY: test-slow
test-slow: test-real-time ## Run only the slow Python tests (packaging, statistics; some minutes)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "slow and not real_time and not long"

# All of them are in one folder (tests/conftest.py): to collect all other tests takes a fifth as long as they do.
.PHONY: test-real-time
test-real-time: setup ## Run the slow tests that measure in real time, with the machine to themselves
	$(BIN)/python -m pytest -m "slow and real_time and not long" tests/mount

# What comparisons with evidence and the fast tests take is less than half of what all take. The pictures of the course
# are drawn for the site already, and tested there.
.PHONY: test-ci
test-ci: setup ## Run what CI runs: the fast tests, and the slow ones that compare with measurements
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --ignore=tests/docs/test_pictures.py \
		-m "(not slow or evidence) and not real_time and not long"

# Tests of what `make docs` writes, as it lies there; the others need no site.
.PHONY: test-site
test-site: docs ## Build the documentation, and run the tests that look at what was built
	DISKMODEL_SITE=$(abspath site) $(BIN)/python -m pytest tests/docs/test_notebooks.py tests/docs/test_pictures.py

# One run of both: it collects once, and begins with what takes long.
.PHONY: test-simulated
test-simulated: setup
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "not real_time and not long"

.PHONY: test-all
test-all: test-rust test-real-time test-simulated ## Run the fast and the slow tests

.PHONY: test-long
test-long: setup ## Run what takes hours: the long tests, then every fuzzing check on a million inputs
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m long
	$(MAKE) fuzz

.PHONY: fuzz
fuzz: setup ## Fuzz every parser, loader and engine: make fuzz INPUTS=1e6 ONLY="trace-msr array"
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --inputs $(or $(INPUTS),1e6) --jobs $(JOBS) $(ONLY:%=--only %)

# Needs no Python, so it can be built while that is installed.
.PHONY: test-rust
test-rust:
	cargo test --locked --workspace --exclude diskmodel-python --exclude diskmodel-web \
		--features diskmodel-kernel/serde --quiet

.PHONY: story
story: setup ## Rerun a story from the field and draw it: make story NAME=threads
	$(BIN)/python -m tests.validation.field.story $(NAME)

.PHONY: stories
stories: setup ## Write docs/how-to/field-stories/ anew
	$(BIN)/python -m tests.validation.field.story --pages

.PHONY: traces
traces: setup ## Calibrate on the first halves of the traces in DISKMODEL_EVIDENCE and write docs/explanation/validation-traces.md
	$(BIN)/python -m tests.calibrate.trace.write_real_drives

.PHONY: field
field: setup ## Print published measurements against the model, and write docs/explanation/validation-field.md
	$(BIN)/python -m tests.validation.field

.PHONY: arrays
arrays: setup ## Compare published measurements of drives and arrays with the model, fit disks through arrays, and write validation-arrays.md and validation-through-array.md
	$(BIN)/python -m tests.validation.published_arrays
	$(BIN)/python -m tests.validation.through_array

.PHONY: intervals
intervals: setup ## Predict every published figure anew, and write validation-coverage.md and the spread of each class
	$(BIN)/python -m tests.validation.coverage --renew --write

.PHONY: yardstick
yardstick: setup ## Score predictors on all public measurements: make yardstick ANSWERS=mine.csv
	$(BIN)/python -m tests.validation.yardstick $(ANSWERS)

.PHONY: fits
fits: setup ## Fit drives to a part of fio's results over queue depths, predict the rest, and write docs/explanation/validation-fio-fits.md
	$(BIN)/python -m tests.validation.fits.fio_depths

.PHONY: firmware
firmware: setup ## Fit how firmware orders commands to published drives, and write docs/explanation/validation-firmware.md
	$(BIN)/python -m tests.validation.firmware

.PHONY: synthesis
synthesis: setup ## Fit the traces in DISKMODEL_EVIDENCE, compare with their replays, and write docs/explanation/validation-synthesis.md
	$(BIN)/python -m tests.validation.synthesis

.PHONY: trace-stories
trace-stories: setup ## Plan from three traces in DISKMODEL_EVIDENCE, replay them, and write docs/how-to/plan-from-a-trace.md
	$(BIN)/python -m tests.validation.synthesis.stories

.PHONY: audit
audit: setup ## Check answers of `plan` to random questions by long runs: make audit QUESTIONS=300 SEED=1 (hours)
	$(BIN)/python -m tests.audit --questions $(or $(QUESTIONS),300) --seed $(or $(SEED),1) --page

.PHONY: chances
chances: setup ## Check the chances that plans state with other draws: make chances QUESTIONS=300 SEED=81 (hours; goes on where it ended)
	$(BIN)/python -m tests.audit.chances --questions $(or $(QUESTIONS),300) --seed $(or $(SEED),81) --page

.PHONY: coverage
coverage: setup ## Run the fast tests and report which lines and branches they reached
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --cov --cov-report=term-missing:skip-covered

.PHONY: mutation
mutation: setup $(VENV)/.mutation ## Change the mapping, the queues and the statistics at random and see which tests notice (minutes)
	$(BIN)/python -m tests.trust.mutation --jobs $(JOBS)

.PHONY: test-pythons
test-pythons: setup ## Install the wheel for every Python >= 3.11 on this machine and test it there (needs make dist)
	@ls dist/*.whl >/dev/null 2>&1 || $(MAKE) dist
	$(BIN)/python -m tests.packaging.pythons dist/*.whl

.PHONY: bench
bench: setup ## Run the benchmarks in benchmarks/ (refuses a debug build)
	@found=0; for script in benchmarks/bench_*.py; do \
		if [ -e "$$script" ]; then found=1; echo "== $$script"; $(BIN)/python "$$script"; fi; \
	done; if [ $$found = 0 ]; then echo "benchmarks/ holds no bench_*.py" >&2; exit 1; fi

##@ Release

.PHONY: lock
lock: $(VENV)/.release ## Renew requirements/*.txt, Cargo.lock and third-party.md to the newest versions allowed
	$(BIN)/python requirements/lock.py
	cargo update --quiet
	$(BIN)/python requirements/third_party.py

.PHONY: advisories
advisories: $(VENV)/.release ## Look up known vulnerabilities of the locked packages, Python and Rust (needs the network)
	$(BIN)/python requirements/advisories.py

.PHONY: licences
licences: setup ## Check that every package installed or linked with the project has a permissive licence
	$(BIN)/python requirements/licences.py

.PHONY: sbom
sbom: $(VENV)/.release ## Write a CycloneDX list of the locked packages, Python and Rust, to dist/sbom.json
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements requirements/runtime.txt --pyproject pyproject.toml --output-reproducible -o dist/sbom.json
	$(BIN)/python requirements/sbom.py dist/sbom.json

.PHONY: release
release: dist $(VENV)/.release ## Make the wheel a manylinux one and check its stable ABI
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist/manylinux dist/*.whl
	$(BIN)/abi3audit --strict dist/manylinux/*.whl
	rm dist/*.whl && mv dist/manylinux/*.whl dist/ && rmdir dist/manylinux
	@ls -l dist

.PHONY: clean
clean: ## Remove everything that was built, .venv too
	rm -rf $(VENV) target build dist site out *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage* mutants
	find diskmodel calibrate tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +
	rm -f diskmodel/engine/_kernel*.so

# --- What the targets above stand on -------------------------------------------------------------------------------

$(VENV)/.python:
	@if [ -z "$(PYTHON)" ]; then echo "No Python >= 3.11 found; name one: make PYTHON=/path/to/python setup" >&2; exit 1; fi
	@command -v cargo >/dev/null || { echo "cargo not found: install Rust (stable)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Python compiles what is imported when it is first imported; compiling all of it takes a third of the installation.
# The lock files list the whole dependency tree. --no-deps: an older pip looks up the newest version of what a package needs
# with an extra (coverage[toml]), although the lock names another, and then refuses it because it has no hash.
$(VENV)/.dependencies: requirements/dev.txt | $(VENV)/.python
	$(PIP) install --quiet --no-compile --no-deps --require-hashes -r requirements/dev.txt
	@touch $@

# What the installation would compile, with the same command, so that it finds it done: two jobs of make compile beside the
# packages, which takes as long as they do. Elsewhere than on Linux it links in another way, and without the micro-benchmark.
$(VENV)/.compiled: $(RUST_SOURCES) | $(VENV)/.python
ifeq ($(shell uname -s),Linux)
	$(CARGO_ENV) cargo rustc --quiet --locked --release --lib --crate-type cdylib \
		--features pyo3/extension-module --manifest-path $(KERNEL)/python/Cargo.toml
	$(CARGO_ENV) cargo build --quiet --locked --release --manifest-path calibrate/microbench/Cargo.toml
endif
	@touch $@

# Only what is compiled or declared asks for a new installation: Python files are used where they lie.
$(VENV)/.installed: $(VENV)/.dependencies $(VENV)/.compiled pyproject.toml setup.py $(RUST_SOURCES)
	rm -f diskmodel/engine/_kernel*.so
	$(PIP) install --quiet --no-build-isolation --no-deps --editable .
	@touch $@

$(WASM): $(KERNEL)/wasm.sh $(KERNEL)/Cargo.toml $(KERNEL)/web/Cargo.toml Cargo.toml Cargo.lock \
		$(shell find $(KERNEL)/src $(KERNEL)/web/src -name '*.rs')
	$(KERNEL)/wasm.sh $(abspath $(WASM))

$(VENV)/.mutation: requirements/mutation.txt | $(VENV)/.dependencies
	$(PIP) install --quiet --no-deps --require-hashes -r requirements/mutation.txt
	@touch $@

$(VENV)/.zensical: requirements/zensical.txt | $(VENV)/.dependencies
	$(PIP) install --quiet --no-deps --require-hashes -r requirements/zensical.txt
	@touch $@

$(VENV)/.release: requirements/release.txt | $(VENV)/.dependencies
	$(PIP) install --quiet --no-deps --require-hashes -r requirements/release.txt
	@touch $@
