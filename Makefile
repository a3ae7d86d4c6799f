# Two commands are enough: `make demo` and `make test`. Each sets up its own environment inside the checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
PYTEST_FLAGS ?= -n 2 --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo test core-coverage check generate collector frameworks test-frameworks frameworks-newest lock clean

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
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

core-coverage: $(STAMP) ## Hold every branch of the rules to a test
	$(BIN)/python -m pytest tests/core tests/properties -q -n 2 --cov=otel_docsfab.core --cov-report=term --cov-fail-under=100

check: $(STAMP) ## Lint, types, import rules, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo .importlinter
	$(BIN)/python -m otel_docsfab.config.schema --check docs/schemas/settings.schema.json
	$(BIN)/otel-docsfab mixin build --check
	$(BIN)/python docs/picture.py --check

generate: $(STAMP) ## Make the generated files anew
	$(BIN)/python -m otel_docsfab.config.schema docs/schemas/settings.schema.json
	$(BIN)/otel-docsfab mixin build
	$(BIN)/python docs/picture.py

frameworks: $(STAMP) ## Make an environment for each agent framework (cached outside the checkout)
	$(BIN)/python -m tests.frameworks.environments

test-frameworks: frameworks ## Run real agent frameworks with stub models, live, replayed and enforced
	REQUIRE_SERVICES=1 $(BIN)/python -m pytest tests/frameworks $(PYTEST_FLAGS)

frameworks-newest: $(STAMP) ## Try the newest releases of the frameworks; reports drift, never fails
	-$(BIN)/python -m tests.frameworks.newest

collector: ## Build the collector (Go; cached outside the checkout)
	@sh collector/build.sh

lock: ## Recompile the pinned development environment (needs uv)
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 \
		--all-extras pyproject.toml requirements/dev.in -o requirements/dev.txt

clean: ## Remove what the targets made
	rm -rf $(VENV) dist build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
