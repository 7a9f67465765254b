# The two commands of the README. Each sets up what it needs; the second run finds it all in place.
.DEFAULT_GOAL := help
.PHONY: help rehearse test test-unit test-thorough test-browser test-engine test-some-chaos tools test-chaos test-long test-aws test-vllm check check-workflows lock setup plans bench bench-peers calibrate

PY := .venv/bin/python

help:
	@echo "make rehearse   a split and a single model on a real Kubernetes on this machine, measured and taken down"
	@echo "make test       all tests: unit and stacks, drawn cases and simulated runs, the report in a browser, then engine and cluster"
	@echo "make check      lint, types, import contracts"
	@echo "make check-workflows  the workflows of .github, by actionlint and zizmor"
	@echo "make bench      how far the client is from the truth, against a timed engine on this machine"
	@echo "make calibrate  how often the verdict's words are wrong, by seeded simulation (a few minutes)"
	@echo "make bench-peers  the same of vllm bench serve, guidellm and aiperf beside it (14 GiB once, about an hour)"
	@echo "make test-chaos kill things at random, 24 seeds (about an hour)"
	@echo "make test-long  tests of many minutes: logs, weights, kills by the Job on a real cluster (about half an hour)"
	@echo "make test-aws   every AWS stack from up to sweep, whole and interrupted, over doubles of AWS and EKS"
	@echo "make test-vllm  real vLLM: the stand-in held against it, every kind of test on it (6.4 GiB once, over an hour)"
	@echo "make plans      write docs/plans anew: what each stack needs, where it lands, what it costs"
	@echo "make lock       resolve the requirement files anew"

setup: .venv/.ready

.venv/.ready: requirements/dev.txt pyproject.toml scripts/setup.sh
	scripts/setup.sh
	touch $@

rehearse: setup
	.venv/bin/splitbed rehearse $(if $(ENGINE),--engine $(ENGINE)) $(ARGS)

check: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo

# By actionlint, built from its Go module, and zizmor, in an environment of its own.
check-workflows: setup
	$(PY) -m pytest tests/test_workflows.py tests/engine/test_workflows.py

plans: setup
	.venv/bin/splitbed plan --pages docs/plans

test: check test-unit test-thorough test-browser test-engine test-some-chaos

test-unit: setup
	$(PY) -m pytest -m "not engine and not vllm and not thorough and not browser" -n 2

test-thorough: setup
	$(PY) -m pytest -m thorough -n 2

# Installs Debian's chromium-headless-shell where no Chromium is there: the report is looked at as a reader sees it.
test-browser: setup
	$(PY) -m pytest -m browser

tools: setup
	.venv/bin/splitbed tools build

test-engine: tools
	$(PY) -m pytest -m "engine and not chaos and not long"

# What takes many minutes each: pods killed by the Job, collectors killed.
test-long: tools
	$(PY) -m pytest -m "long and not aws" $(ARGS)

# The AWS half without AWS: two lives at a time, each in an account of its own.
test-aws: tools
	$(PY) -m pytest -m aws -n 2 $(ARGS)

test-some-chaos: tools
	$(PY) -m pytest -s -m chaos

# Prints how far the client is from the engine's own stamps, on this machine as busy as it is; asserts nothing.
bench: setup
	$(PY) -m tests.bench

# The figures of docs/method.md: a simulation, asserts nothing; tests hold a short one to the same bounds.
calibrate: setup
	$(PY) -m tests.bench.calibration $(ARGS)

# What is in results/peers.jsonl already is not measured again, so that it may be stopped and gone on with.
bench-peers: setup
	$(PY) -m tests.bench.side_by_side $(ARGS)

test-chaos: tools
	$(PY) -m pytest -s -m chaos --chaos-seeds 0:24

# Without capture: a start takes a minute or two, and says how far it is.
test-vllm: setup
	$(PY) -m pytest -m vllm -s $(ARGS)

lock: setup
	scripts/lock.sh
