.PHONY: help setup setup-tests demo test test-more lint types pytest test-real soak fresh-root bench fit lock clean
.DEFAULT_GOAL := help
BIN := .venv/bin

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

setup: ## bring uv, tmux and the packages into .venv
	@scripts/bootstrap

setup-tests: setup
	@scripts/bootstrap tests

test pytest soak: setup-tests

demo: setup ## the main job in under a minute: no key, no account, nothing left behind
	@$(BIN)/maestro demo

test: setup ## lint, types and all but the longest tests; under ten minutes on two cores
	@$(MAKE) --no-print-directory -j 2 lint types pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

test-more: setup ## the tests that make test leaves out: long journeys, repeated kills, whole tables
	$(BIN)/pytest -n 3 --dist worksteal -m 'more and not real'

pytest: setup
	$(BIN)/pytest -n 3 --dist worksteal

test-real: setup ## the real CLIs, by npm, against a stub of their APIs; red where a CLI is missing
	$(BIN)/pytest -m real -n 2 --dist loadfile -p no:randomly tests/real

soak: setup ## the robustness rows (bars R1-R19) at full counts, and older versions of the CLIs
	MAESTRO_SOAK=1 $(BIN)/pytest -n 2 --dist worksteal -p no:randomly -m 'soak and not real' --timeout 7200
	MAESTRO_SOAK=1 $(BIN)/pytest -n 2 --dist loadfile -p no:randomly -m 'soak and real' --timeout 7200
	scripts/fresh-root

fresh-root: setup ## demo and test on a new Debian: as root, as a user, with Python 3.12 and 3.13; needs root
	@scripts/fresh-root

bench: setup ## the speed rows (bars S1-S16), as ratios of one interleaved run
	$(BIN)/python -m bench

fit: setup ## fit the table of words of routing to the examples in scripts/fit/
	uv run --no-project --python $(BIN)/python --with scikit-learn --with-editable . scripts/fit/fit.py

lock: setup ## resolve requirements.lock anew
	uv pip compile pyproject.toml --universal --python-version 3.11 --all-extras --group dev \
		--generate-hashes --no-header --quiet --upgrade --output-file requirements.lock

clean: ## remove what setup and tests made
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis dist bench/results.json .cache
