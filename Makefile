# The two commands of a newcomer: `make demo` and `make test`. `make help` lists the rest.
SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help
bin := .venv/bin
export PATH := $(CURDIR)/.venv/bin:$(PATH):/usr/sbin:/sbin
export PYTHONPATH := $(CURDIR)/collections
FAULT ?=

.PHONY: help setup test lint types sanity unit property lint-fix

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: ## build .venv/ and install what is missing (a second run installs nothing)
	@tools/setup.sh

lint: setup ## ruff, yamllint and ansible-lint (production profile)
	ruff check .
	ruff format --check .
	yamllint -s .
	ansible-lint

types: setup ## mypy --strict
	mypy -p ansible_collections.jumbo.fabric.plugins -p ansible_collections.jumbo.fabric.lab

sanity: setup ## ansible-test sanity on a mirrored tree
	tools/sanity.sh

unit: setup ## unit and property tests (fast, no namespaces)
	pytest tests/unit tests/property

test: lint types sanity unit ## everything that CI runs
