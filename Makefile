# The two commands of a newcomer: `make demo` and `make test`. `make help` lists the rest.
SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help
bin := .venv/bin
export PATH := $(CURDIR)/.venv/bin:$(PATH):/usr/sbin:/sbin
export PYTHONPATH := $(CURDIR)/collections
FAULT ?=

.PHONY: help setup able checks demo lab lab-down faults-help test lint types sanity unit search lab-tests rollout-tests kill-tests reboot-tests scenario matrix matrix-unit bench docs

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: ## build .venv/ and install what is missing; PYTHON=python3.13 chooses the interpreter
	@tools/setup.sh

able: setup
	@tools/lab check

demo: setup ## the main job: a whole roll-out in the lab; FAULT=<name> switches a fault on
	@FAULT='$(FAULT)' tools/demo.sh

lab: setup ## keep a lab up to play with; FAULT=<name> switches a fault on
	@tools/lab up $(if $(FAULT),--fault '$(FAULT)')

lab-down: setup ## remove the lab
	@tools/lab down

faults-help: setup ## list the lab's faults, their default place and their expected end
	@tools/lab faults

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
	pytest tests/unit tests/property -n 4

search: setup ## the property tests with twenty times as many examples, new ones each time: five minutes
	JUMBO_PROPERTIES=search pytest tests/property -n 2

lab-tests: able ## tests over real packets: host programs, lab, front ends, whole roll-outs
	pytest tests/lab -n 2 --dist loadfile --no-loadscope-reorder -m 'not long'

rollout-tests: able ## the whole roll-outs that lab-tests leaves out: more faults, deaths, reboots and slow devices; an hour
	pytest tests/lab/rollout -n 2 --dist loadfile -m long

kill-tests: able ## SIGKILL at every entry of the journal in a real lab: hours; JUMBO_KILL_EVERY=10 for a sample
	pytest tests/kill/test_every_entry.py

reboot-tests: able ## a random node reboots at a random entry of the journal: an hour; JUMBO_REBOOTS=10 for fewer
	pytest tests/kill/test_reboots.py

scenario: able ## molecule default: the demo itself, twice, as a scenario
	molecule test

matrix: able ## oldest and newest Python and ansible-core: unit tests and a whole roll-out with each
	tools/matrix.sh

matrix-unit: setup ## the unit tests with the newest Python and ansible-core
	tools/matrix.sh unit 3.13

bench: setup ## planning and proving from 1,000 to 10,000 hosts; fleet_facts beside nornir + napalm
	python tests/bench/planner.py
	python tests/bench/fleet.py

docs: setup ## the module reference, from the modules, under docs/reference/generated
	tools/reference.sh

checks: setup ## lint, types and sanity, side by side
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target sanity lint types

test: able checks unit matrix-unit lab-tests scenario ## everything that CI runs
