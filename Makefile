# Two commands are enough: `make demo` and `make test`. Each sets up its own environment inside the checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check lock bench clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 24

$(STAMP): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP) ## Watch a scripted agent read, loop, be told, be stopped and be retried
	@$(BIN)/otel-docsfab demo

test: $(STAMP) ## Run the tests; real services that are missing are skipped with a reason
	$(BIN)/python -m pytest

check: $(STAMP) ## Lint, types, import rules, generated files, docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --config .importlinter

lock: ## Recompile the pinned development environment
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 \
		--all-extras pyproject.toml requirements/dev.in -o requirements/dev.txt

clean: ## Remove what the targets made
	rm -rf $(VENV) dist build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
