# make help lists what there is to do. On a fresh Debian machine with Go,
# "make demo" and "make test" are all that is needed: they install, build and
# run everything before them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

GO ?= go
# Versions of tools that are run from their modules; nothing is installed.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# How long each fuzz target runs.
FUZZTIME ?= 10s
# What else go test is told, such as TESTFLAGS='-run Rows -v'.
TESTFLAGS ?=
# What the run of CPython's own tests is told, such as CONFORMANCE='-shard 1/4'.
CONFORMANCE ?=
# How long make soak lasts.
SOAK ?= 30m
# What make bench-peers is told, such as PEERSFLAGS='-quick -only start'.
PEERSFLAGS ?=
# What the load program is told, such as LOADFLAGS='-duration 10s -json'.
LOADFLAGS ?=
# How long the tests of one package may take; on a busy machine with the race
# detector some need more than ten minutes.
TESTTIME ?= 30m

GUESTS := $(patsubst guests/%/recipe.sh,%,$(wildcard guests/*/recipe.sh))
# Python of the guest's own version for this machine, for the fuzzer and the
# measurements; the build unpacked one.
NATIVE_PYTHON ?= $(firstword $(shell ls -t $${MAYFLY_CACHE_DIR:-$${XDG_CACHE_HOME:-$$HOME/.cache}/mayfly}/guests/python-base-*/native/python 2>/dev/null))
export MAYFLY_NATIVE_PYTHON ?= $(NATIVE_PYTHON)
# The tests in which a guest, a program, or who can write to the cache, is hostile.
ATTACKS := Attacks|Upstream|Tree|Contract|Guest|Hostile|Cancel|Deadline|HostCalls|Reentrant|Cache|Flat|Rebinding|Redirects|Proxy|NativeNetwork

# What make verify is told; go run ./bench/verify --help lists it.
VERIFYFLAGS ?=

export CGO_ENABLED ?= 0

##@ Use

.PHONY: build
build: guests ## Build bin/mayfly, with the guests in it
	$(GO) build -trimpath -o bin/mayfly ./cmd/mayfly

.PHONY: demo
demo: build ## Run the main job on real rows, and the same call misbehaving
	demo/run.sh bin/mayfly

##@ Test

.PHONY: clients
clients: node ## Install what the example clients need
	@cd clients/typescript && { cmp -s package-lock.json node_modules/.from || { npm ci --ignore-scripts --no-audit --no-fund && cp package-lock.json node_modules/.from; }; }

.PHONY: browser
browser: ## Install what the test of the console needs: Chromium and Playwright
	@command -v chromium >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }
	@if command -v npm >/dev/null; then cd runtime/httpapi/testdata/browser && { cmp -s package-lock.json node_modules/.from || { npm ci --ignore-scripts --no-audit --no-fund && cp package-lock.json node_modules/.from; }; }; fi

.PHONY: test
test: guests clients browser ## Run all tests
	$(GO) test -timeout $(TESTTIME) $(TESTFLAGS) ./...

.PHONY: race
race: guests clients browser compiler ## Run all tests with the race detector
	CGO_ENABLED=1 $(GO) test -race -short -timeout $(TESTTIME) $(TESTFLAGS) ./...

.PHONY: attack
attack: guests ## Run the attacks on the sandbox, one line each
	$(GO) test -count=1 -timeout $(TESTTIME) -v -run '$(ATTACKS)' ./runtime ./runtime/mcp ./sandbox/wasm ./sandbox/process ./internal/egress/...

.PHONY: conformance
conformance: guests conformance-tests ## Run CPython's own tests in the guest (about an hour; goes on where it was)
	$(GO) run ./bench/conformance $(CONFORMANCE)

.PHONY: conformance-slice
conformance-slice: guests conformance-tests ## Run the part of them that covers the language itself
	$(GO) run ./bench/conformance -slice -fresh -results bench/out/conformance-slice.jsonl

# CPython's own tests, from the sources that the guest is built from.
.PHONY: conformance-tests
conformance-tests: setup
	@mkdir -p bench/out
	@bash guests/build/main.sh --tests bench/out/python-tests python

.PHONY: fuzz
fuzz: guests ## Fuzz every target for FUZZTIME (10s)
	@grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do \
		grep -ho '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -c6- | sort -u | while read -r target; do \
			echo "== $$dir $$target"; \
			$(GO) test "$$dir" -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x </dev/null; \
		done; \
	done

.PHONY: bench
bench: guests ## Measure what the README claims, against native Python
	$(GO) run ./bench/report
	$(GO) test -run '^$$' -bench '^BenchmarkDecide$$' ./governor

.PHONY: bench-peers
bench-peers: guests peers ## Measure Mayfly beside what else runs such code
	$(GO) run ./bench/peers -out bench/results $(PEERSFLAGS)

.PHONY: soak
soak: build ## Run a real server for SOAK (30m) while things go wrong
	$(GO) run ./bench/load soak -mayfly bin/mayfly -length $(SOAK) -out bench/results

.PHONY: load
load: build ## Call a real server from 64 connections, then from 640
	$(GO) run ./bench/load -mayfly bin/mayfly $(LOADFLAGS)

.PHONY: corpus
corpus: ## Measure the sanitizers on the labelled corpus
	$(GO) run ./bench/corpus

.PHONY: bench-once
bench-once: guests ## Run every benchmark once, so that none rots
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

.PHONY: cover
cover: guests clients ## Show how much of the code the tests reach
	@mkdir -p bin
	$(GO) test -coverpkg ./... -coverprofile bin/cover.out ./...
	$(GO) tool cover -func bin/cover.out | tail -n 1

##@ Check

.PHONY: check
check: format-check lint generate-check test race attack bench-once ## Everything that must hold before a change lands

.PHONY: fmt
fmt: ## Format all Go files
	gofmt -w -s .

.PHONY: format-check
format-check:
	@unformatted=$$(gofmt -l -s .); if [ -n "$$unformatted" ]; then echo "make fmt would change:" $$unformatted >&2; exit 1; fi

.PHONY: lint
lint: ## Look for mistakes: go.mod, vet, staticcheck, old idioms
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) fix -diff ./...

.PHONY: generate
generate: ## Write generated files anew
	$(GO) generate ./...

.PHONY: generate-check
generate-check: generate
	@if git rev-parse --git-dir >/dev/null 2>&1; then git diff --exit-code; fi

# What claims rest on is in bench/verify/claims.tsv. VERIFYFLAGS='--skip race,guests-verify'
# leaves the slow steps out.
.PHONY: verify
verify: guests clients browser compiler ## Show every claim of the project on this machine, in one table
	$(GO) run ./bench/verify $(VERIFYFLAGS)

##@ Guests

.PHONY: setup
setup: ## Install what building the guests needs
	@bash guests/build/toolchain.sh install

.PHONY: guests
guests: setup ## Build the guests, or take them from the cache
	@for guest in $(GUESTS); do bash guests/build/main.sh $$guest; done

.PHONY: guests-verify
guests-verify: setup ## Build the guests from nothing and compare
	@temp=$$(mktemp -d); trap 'rm -rf "$$temp"' EXIT; \
	for guest in $(GUESTS); do \
		bash guests/build/main.sh --cache "$$temp/cache" --out "$$temp/out" $$guest; \
		cmp "$$temp/out/$$guest.wasm.zst" "guests/artefacts/$$guest.wasm.zst"; \
	done

.PHONY: expect
expect: guests ## Compute natively what scripts must give in the guest
	$(NATIVE_PYTHON) -S -s guests/python/testdata/expect.py guests/python/packages/packages.tsv \
		$(dir $(patsubst %/native/python,%,$(NATIVE_PYTHON)))inputs guests/python/testdata/packages/*.py guests/python/testdata/scripts/*.py

##@ Other

# The example clients need it, and so do handlers in JavaScript.
.PHONY: node
node:
	@command -v npm >/dev/null || { apt-get -q=2 update && DEBIAN_FRONTEND=noninteractive apt-get -q=2 install -y --no-install-recommends nodejs npm; }

# What Mayfly is measured beside: packages of Debian and of npm. The lock pins
# them for npm install too; npm ci, since npm 11, refuses it, because it wants what
# one of them has for other machines.
.PHONY: peers
peers: node
	@command -v bwrap >/dev/null && command -v python3 >/dev/null || { apt-get -q=2 update && DEBIAN_FRONTEND=noninteractive apt-get -q=2 install -y --no-install-recommends bubblewrap python3; }
	@cd bench/peers/drivers && { cmp -s package-lock.json node_modules/.from || { npm install --no-save --ignore-scripts --no-audit --no-fund && cp package-lock.json node_modules/.from; }; }

# The race detector needs a C compiler, nothing else does.
.PHONY: compiler
compiler:
	@command -v gcc >/dev/null || { apt-get -q=2 update && DEBIAN_FRONTEND=noninteractive apt-get -q=2 install -y --no-install-recommends gcc libc6-dev; }

.PHONY: clean
clean: ## Remove what was built here; the cache stays
	rm -rf bin bench/out
	find guests/artefacts -type f ! -name README.md -delete

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
