# Verbs of this repository; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check lock bench bi real-judge workers chaos
unexport PYTHONDONTWRITEBYTECODE
WORKERS ?= 2

help: ## List the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: .venv/ready ## Build .venv with the command assay in it; quick when it is up to date

.venv/ready: requirements.lock pyproject.toml deploy/setup.sh
	@PYTHON="$(PYTHON)" sh deploy/setup.sh

demo: setup ## Grade the example workspace with nothing else set up and show the ranking
	@.venv/bin/assay demo

test: setup ## Run all tests
	@.venv/bin/python -m pytest -q -n $(WORKERS)

check: setup ## Lint, format check and strict types
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

bench: setup ## Run the benchmarks, print their figures and fail where a limit is missed
	@.venv/bin/python -m benchmarks

chaos: setup ## Kill what runs, 200 times at random moments of real rounds, and count what came of it (KILLS=, SEED=)
	@.venv/bin/python -m tests.chaos $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED))

bi: setup ## Connect Apache Superset, 1 GB in an environment of its own, and draw the leaderboard with it
	@sh deploy/bi/run.sh

real-judge: setup ## Judge once with a real small language model, 1.4 GB in an environment of its own
	@sh deploy/real_judge/run.sh

workers: setup ## Split a round between two workers on one broker, database and S3 store, and kill one in the middle
	@.venv/bin/python -m deploy.rehearsal

lock: setup ## Refresh requirements.lock from pyproject.toml
	@.venv/bin/uv pip compile --quiet --upgrade --universal --generate-hashes --extra workers --group dev pyproject.toml -o requirements.lock
