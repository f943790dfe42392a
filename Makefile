# `make help` lists the targets. Scripts of more than one line are in scripts/.

# The Cargo profile of the groupwire command: release for users, quick for `make run`, `make cluster`, `make quick-rows` and `make quick-evidence`, dev for tests,
# which need no second build then.
GROUPWIRE_PROFILE ?= $(if $(filter run cluster quick-rows quick-evidence,$(MAKECMDGOALS)),quick,release)
CARGO_TARGET_DIR ?= target
BINARY = $(CARGO_TARGET_DIR)/$(if $(filter dev,$(GROUPWIRE_PROFILE)),debug,$(GROUPWIRE_PROFILE))/groupwire
# In CI the versions in the lock files are used as they are.
LOCKED := $(if $(CI),--locked)
# The targets of Cargo with tests; examples have none, and only clippy compiles them.
TESTS := --lib --bins --tests
# The packages of the laboratory, which are built only where they are named.
LAB := --package groupwire-lab --package groupwire-papers --package groupwire-sim --package groupwire-disk --package groupwire-ports

NPM := web/node_modules/.package-lock.json
# What draws the plots of the laboratory's report.
REPORT := lab/experiments/report/node_modules/.package-lock.json
# Excalidraw, for the example with it alone.
EXCALIDRAW := examples/excalidraw/node_modules/.package-lock.json
# The packages of those from whom docs/moving tells how to move here, and tldraw.
MOVING := examples/moving/node_modules/.package-lock.json
TLDRAW := examples/tldraw/node_modules/.package-lock.json
# The programs for test-runtimes.
RUNTIMES := web/runtimes/node_modules/.package-lock.json
# What makes the documentation's site.
SITE := web/site/node_modules/.package-lock.json
# What the comparison of ways to show a pointer needs.
MOTION := lab/motion/node_modules/.package-lock.json
WASM := web/client/wasm/groupwire_wasm_bg.wasm
# The testing kit's module, which `make run` may leave out (scripts/build.sh).
ROOM := $(if $(GROUPWIRE_WITHOUT_TESTING),,web/client/wasm/groupwire_wasm_room_bg.wasm)
# The last file that `make web` writes.
WEB := web/puzzle/dist/index.html
WEB_SOURCES := $(shell find web \( -name node_modules -o -name dist -o -path web/client/wasm -o -path web/e2e -o -path web/packed -o -path web/runtimes -o -path web/site \) -prune \
	-o -type f -print)

# Puts nats-server on the PATH of a recipe; without it tests are skipped.
WITH_NATS := if nats=$$(scripts/nats.sh); then PATH=$$(dirname "$$nats"):$$PATH; fi &&

# Where recordings of pointers are, for `make windows`; without any it generates one.
MOUSE ?= ../shared/data/mouse
SOAK_CASES ?= 10000
SOAK_SESSIONS ?= 100000
SOAK_KILLS ?= 1000
SOAK_POWER_CUTS ?= 100
SOAK_FAULTS ?= 100
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $$(cargo +nightly fuzz list)
# Inputs of up to 1024 bytes are sessions of some dozens of steps; the fuzzer grows them early, because sessions of few
# steps find nothing. The address sanitizer is off: it only costs time where there is no unsafe code.
FUZZ_OPTIONS := -max_len=1024 -len_control=10 -timeout=20

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.* [#][#] .*/\1/p' $(firstword $(MAKEFILE_LIST))) FORCE
.DELETE_ON_ERROR:

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{ printf "make %-13s %s\n", $$1, $$2 }'

run: build ## build everything and start the server with its pages
	@exec $(BINARY) serve --codecs all --emulate

cluster: build ## build everything and start three servers that share their rooms, over three NATS servers, on this machine
	@nats=$$(scripts/nats.sh) && exec node scripts/cluster.mjs $(BINARY) "$$nats"

build: ## build the groupwire command with the web parts inside
	@scripts/build.sh $(GROUPWIRE_PROFILE)

lab: build $(REPORT) ## build the program of the experiments, groupwire-lab, too
	cargo build $(LOCKED) --profile $(GROUPWIRE_PROFILE) --package groupwire-lab

quick-rows: lab ## run the experiments but fairness and yjs with --quick, and check that no row is missing; not part of test, as it takes minutes
	nats=$$(scripts/nats.sh) && PATH="$$(dirname "$$nats"):$$PATH" node scripts/quick-rows.mjs $(dir $(BINARY))groupwire-lab

evidence: lab ## measure every table and figure of the five papers beside what they published, into target/evidence: some three hours, and again where it was stopped
	browser=$$(scripts/browser.sh) && GROUPWIRE_BROWSER="$$browser" node scripts/evidence.mjs $(dir $(BINARY))groupwire-lab

quick-evidence: lab ## the same in minutes, every row measured once, into target/evidence/quick
	browser=$$(scripts/browser.sh) && GROUPWIRE_BROWSER="$$browser" node scripts/evidence.mjs $(dir $(BINARY))groupwire-lab --quick

windows: lab ## measure how the whiteboard shows a pointer in two browser windows over bad networks, into target/windows; not part of test
	browser=$$(scripts/browser.sh) && GROUPWIRE_BROWSER="$$browser" $(dir $(BINARY))groupwire-lab emulate -- \
		node lab/motion/windows.mjs "$(MOUSE)" --out target/windows

voice: lab ## measure how voice arrives and sounds between two browser windows over bad networks, into target/voice; not part of test
	mkdir -p target/voice
	browser=$$(scripts/browser.sh) && GROUPWIRE_BROWSER="$$browser" $(dir $(BINARY))groupwire-lab emulate -- \
		node lab/experiments/voice/windows.mjs > target/voice/windows.jsonl
	$(dir $(BINARY))groupwire-lab report --from target/voice

package: web ## pack the Rust crates as for publishing, and build each from its package
	@scripts/package.sh

semver: ## check the crates' public interfaces against the commit in scripts/semver-baseline; not part of test
	@scripts/semver.sh

test: ## run all checks and tests of the product
	@node scripts/test.mjs

test-lab: build $(REPORT) $(MOTION) ## check and test the laboratory, which tests of the product leave out
	npm test --silent --prefix lab/experiments/report
	npm test --silent --prefix lab/motion
	cargo clippy $(LOCKED) $(LAB) --package groupwire-benches --all-targets -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc $(LOCKED) $(LAB) --no-deps
	node scripts/skipped.mjs scripts/test-rust.sh $(LOCKED) $(LAB) $(TESTS)
	cargo test $(LOCKED) $(LAB) --doc

npm: $(NPM) ## install the packages of the web parts

fmt: $(NPM) ## format Rust and TypeScript
	cargo fmt --all
	cd web && npm run --silent format

fmt-check: $(NPM) ## check the format
	cargo fmt --all --check
	cd web && npm run --silent format:check

conflicts: ## check that no file holds conflict markers of an unfinished merge
	@node scripts/check-conflicts.mjs

clippy: ## lint Rust
	cargo clippy $(LOCKED) --all-targets -- --deny warnings

licences: ## check that all we ship is permissively licensed
	@node scripts/check-licences.mjs

core-check: ## check that the core has no clock, socket or thread, the crates' arrows, and the layers of the server
	@node scripts/check-core.mjs
	@node scripts/check-layers.mjs

wire-check: ## check that every rule of the wire format is cited by a test, that the tests in docs/security.md and docs/compared.md exist, and that docs/evidence.md is of its result
	@node scripts/check-wire.mjs
	@node scripts/check-security.mjs
	@node scripts/check-compared.mjs
	@node scripts/check-evidence.mjs

links-check: ## check that every link in the Markdown, and every page that code names, exists, and that the site has a place for each page
	@node scripts/check-links.mjs
	@node scripts/check-sections.mjs

cycles-check: ## check that no circle of files is larger than it is known to be
	@node scripts/check-cycles.mjs --max 5 ace afec agent c cli client cluster codecs engine ffi gmc quic session shared simulation store tunnel wasm wasm-codecs wasm-room yjs
	@node scripts/check-cycles.mjs --max 2 server

comments-check: ## check that comments name what they speak of, in the field's words and at most 100 columns
	@node scripts/check-comments.mjs

versions-check: ## check that all parts have the version and the address in Cargo.toml
	@node scripts/release/versions.mjs

doc: ## build the Rust documentation
	RUSTDOCFLAGS="--deny warnings" cargo doc $(LOCKED) --no-deps

site: web $(SITE) ## build the documentation as a static site into target/site
	@node web/site/build.mjs

test-build: web ## build the programs of Rust's tests, and groupwire
	cargo test $(LOCKED) $(TESTS) --no-run

test-shared: $(NPM) ## play random sessions of shared data in TypeScript, and repeat them in Rust (SHARED_SESSIONS=500)
	node scripts/shared-sessions.mjs

test-rust: web ## run Rust's tests and the examples in its documentation
	@scripts/test-rust.sh $(LOCKED) $(TESTS)
	cargo test $(LOCKED) --doc

wasm: $(WASM) ## build the browser's core and its other codecs

web: $(WEB) ## build the web client, the whiteboard and the puzzle

size: web ## check what a browser loads before the first message, and for other codecs
	@node scripts/check-size.mjs

test-scripts: wasm ## prove that the checks in scripts/ can fail
	node --test scripts/*.test.mjs scripts/release/versions.test.mjs
	cargo test --quiet --locked --manifest-path scripts/bindgen/Cargo.toml --target-dir .cache/tools/bindgen

test-web: web ## check and test TypeScript
	cd web && npm run --silent check && npm run --silent test

test-%: GROUPWIRE_PROFILE = dev

test-browser: build ## run the pages and the client in a real browser
	browser=$$(scripts/browser.sh) && $(WITH_NATS) cd web && \
		GROUPWIRE_BROWSER="$$browser" GROUPWIRE_BINARY="$(abspath $(BINARY))" npm run --silent test:browser

test-engines: build ## run the client and the pages in Firefox and WebKitGTK, too
	@scripts/engines.sh
	@$(WITH_NATS) cd web && GROUPWIRE_BINARY="$(abspath $(BINARY))" npm run --silent test:engines

test-excalidraw: build $(EXCALIDRAW) ## check and test the example with Excalidraw; not part of test, as it installs 250 MB
	browser=$$(scripts/browser.sh) && cd examples/excalidraw && \
		GROUPWIRE_BROWSER="$$browser" GROUPWIRE_BINARY="$(abspath $(BINARY))" npm run --silent test

test-tldraw: build $(TLDRAW) ## check and test the example with tldraw; not part of test, as it installs 90 MB under tldraw's own licence
	browser=$$(scripts/browser.sh) && cd examples/tldraw && \
		GROUPWIRE_BROWSER="$$browser" GROUPWIRE_BINARY="$(abspath $(BINARY))" npm run --silent test

test-moving: build $(MOVING) ## run the code of docs/moving, before and after; not part of test, as it installs 70 MB
	cd examples/moving && GROUPWIRE_BINARY="$(abspath $(BINARY))" npm run --silent test

test-packed: build ## try the packed npm package in bundlers, frameworks, Node and test runners; not part of test, as it installs 1 GB
	browser=$$(scripts/browser.sh) && cd web && \
		GROUPWIRE_BROWSER="$$browser" GROUPWIRE_BINARY="$(abspath $(BINARY))" node --test --test-concurrency=1 packed/packed.test.mjs packed/testing.test.mjs packed/yjs.test.mjs packed/create.test.mjs

newcomer: ## measure the minutes from nothing to two windows for each of README.md's ways to start (WAYS="source application container"; GROUPWIRE_RELEASE=target/release-files); not part of test, as it builds everything anew
	browser=$$(scripts/browser.sh) && cd web && GROUPWIRE_BROWSER="$$browser" GROUPWIRE_RELEASE="$(abspath $(or $(GROUPWIRE_RELEASE),target/release-files))" node packed/newcomer.mjs $(WAYS)

test-runtimes: build $(RUNTIMES) ## try the client through outages in Node 20, 22 and 24, Bun and Deno; not part of test, as it installs 700 MB
	GROUPWIRE_BINARY="$(abspath $(BINARY))" node web/runtimes/run.mjs

test-acme: build ## order and renew certificates from Pebble, which it builds with Go; not part of test, as it takes minutes
	@GROUPWIRE_BINARY="$(abspath $(BINARY))" node scripts/skipped.mjs scripts/test-acme.sh

test-python: build ## run the Python client, written from docs/wire alone, against the vectors and a server
	@nats=$$(scripts/nats.sh || true) && node scripts/test-python.mjs "$(abspath $(BINARY))" "$$nats"

# Named with the command, so that dependencies get the features that they have for it, and are not compiled again.
NATIVE := $(LOCKED) --bin groupwire --bin groupwire-conformance --lib --package groupwire-cli --package groupwire-c --package groupwire-python \
	--package groupwire-conformance

test-python-client: web ## check the types of the Python package, and test it against a server
	@cargo build --quiet $(NATIVE)
	@node scripts/test-python-client.mjs "$(abspath $(CARGO_TARGET_DIR))/debug/groupwire" "$(abspath $(CARGO_TARGET_DIR))/debug"

test-c: ## compile the C programs and run them against a server, with the address sanitizer and under valgrind
	@cargo build --quiet $(NATIVE)
	@node scripts/test-c.mjs "$(abspath $(CARGO_TARGET_DIR))/debug/groupwire" "$(abspath $(CARGO_TARGET_DIR))/debug"

test-conformance: web ## play the same scenarios with the clients in TypeScript, Rust, Python and C (WRITE=--write puts the results into docs/conformance.md)
	@cargo build --quiet $(NATIVE)
	@node --test conformance/*.test.mjs
	@node conformance/run.mjs "$(abspath $(CARGO_TARGET_DIR))/debug/groupwire" "$(abspath $(CARGO_TARGET_DIR))/debug" $(WRITE)

# Of the generator's own workspace only the program is built, into .cache.
test-kotlin: build ## generate the Kotlin and Swift clients, compile the Kotlin, and run it against a server; not part of test, as it builds a generator and fetches a compiler
	@cargo build --quiet $(NATIVE) --package groupwire-uniffi
	@node scripts/skipped.mjs node --experimental-websocket scripts/test-kotlin.mjs "$(abspath $(CARGO_TARGET_DIR))/debug/groupwire" "$(abspath $(CARGO_TARGET_DIR))/debug"

test-monitoring: build ## check metrics, alert rules and the dashboard, with promtool and prometheus where they are installed
	@node scripts/test-monitoring.mjs "$(abspath $(BINARY))"

test-deploy: build ## check what docs/deploy names: the unit of systemd, files for Compose, configurations, the command for platforms
	@node scripts/test-deploy.mjs "$(abspath $(BINARY))"

test-proxies: build ## try every transport through those of nginx, HAProxy, Caddy, Traefik and Apache that are installed (WRITE=--write puts the results into docs/deploy/proxies.md); not part of test, as it takes some 15 minutes
	browser=$$(scripts/browser.sh) && GROUPWIRE_BROWSER="$$browser" \
		node scripts/skipped.mjs node scripts/test-proxies.mjs "$(abspath $(BINARY))" $(WRITE)

test-readme: build ## run the README's commands
	GROUPWIRE_PROFILE=$(GROUPWIRE_PROFILE) node scripts/check-readme.mjs

test-site: site links-check ## check the site: its links, accessibility, search, and its pages as Markdown; not part of test
	browser=$$(scripts/browser.sh) && GROUPWIRE_BROWSER="$$browser" npm run --silent test --prefix web/site

soak: web build ## run the randomised tests for long (SOAK_CASES=10000 SOAK_SESSIONS=100000 SOAK_KILLS=1000 SOAK_POWER_CUTS=100 SOAK_FAULTS=100 SOAK_ROUNDS=1000)
	PROPTEST_CASES=$(SOAK_CASES) SIMULATIONS=$(SOAK_SESSIONS) KILLS=$(SOAK_KILLS) POWER_CUTS=$(SOAK_POWER_CUTS) \
		CLUSTER_FAULTS=$(SOAK_FAULTS) CLUSTER_POWER_CUTS=20 CLUSTER_LAZY_POWER_CUTS=4 \
		node scripts/skipped.mjs cargo test $(LOCKED) --release
	cd web && GROUPWIRE_SEEDS=$(SOAK_SESSIONS) npx vitest run client/test/shared/law.test.ts
	node scripts/shared-mutations.mjs
	SHARED_SESSIONS=$(SOAK_SESSIONS) node scripts/shared-sessions.mjs
	node scripts/shared-rust-mutations.mjs
	cd web/e2e && GROUPWIRE_BINARY="$(abspath $(BINARY))" GROUPWIRE_YJS_ROUNDS=$(SOAK_ROUNDS) GROUPWIRE_KILLS=200 \
		node --experimental-websocket --test --test-concurrency=1 yjs.test.mjs yjs-doors.test.mjs

# The check links nothing, so that it needs no fuzzing library, which is C++. With the profiles and the target directory of the project it
# takes the dependencies that clippy has checked.
fuzz-check: ## check that the fuzz targets compile
	CUSTOM_LIBFUZZER_PATH=/dev/null cargo check --locked --manifest-path fuzz/Cargo.toml --config Cargo.toml --target-dir $(CARGO_TARGET_DIR)

fuzz: ## fuzz each target (FUZZ_SECONDS=60 FUZZ_TARGETS=...); needs nightly Rust and cargo-fuzz
	@cargo +nightly fuzz --version >/dev/null 2>&1 || { echo "fuzz: needs a nightly Rust and cargo-fuzz:" \
		"rustup toolchain install nightly && cargo install cargo-fuzz" >&2; exit 1; }
	set -e; for target in $(FUZZ_TARGETS); do \
		cargo +nightly fuzz run --sanitizer none "$$target" -- -max_total_time=$(FUZZ_SECONDS) $(FUZZ_OPTIONS); done

release: ## make all files of a release, into target/release-files (docs/releasing.md)
	@scripts/release/all.sh

test-release: versions-check ## check install.sh, packages, images and what else of a release can be checked without building it
	@node scripts/skipped.mjs node --test scripts/release/*.test.mjs

publish: ## print the commands that publish target/release-files; with PUBLISH=1 run them
	@scripts/release/publish.sh

# Keeps .cache/: building the tools in it takes minutes, and they do not depend on our sources.
clean: ## remove what was built
	cargo clean
	rm -rf target web/node_modules web/*/node_modules web/*/dist examples/*/dist examples/excalidraw/node_modules examples/moving/node_modules examples/tldraw/node_modules web/client/wasm lab/experiments/report/node_modules

$(NPM): web/package-lock.json web/package.json $(wildcard web/*/package.json examples/*/package.json)
	@echo "npm: installing the packages of the web parts (some 20 s, the first time a minute)"
	@cd web && npm ci --no-audit --no-fund
	@touch $@

$(REPORT): lab/experiments/report/package-lock.json
	npm ci --no-audit --no-fund --prefix lab/experiments/report
	@touch $@

$(EXCALIDRAW): examples/excalidraw/package-lock.json $(NPM)
	npm ci --no-audit --no-fund --prefix examples/excalidraw
	@touch $@

$(TLDRAW): examples/tldraw/package-lock.json $(NPM)
	npm ci --no-audit --no-fund --prefix examples/tldraw
	@touch $@

# Install scripts of packages are off: y-leveldb's would build a library that nothing here uses.
$(MOVING): examples/moving/package-lock.json $(NPM)
	npm ci --ignore-scripts --no-audit --no-fund --prefix examples/moving
	@touch $@

$(RUNTIMES): web/runtimes/package-lock.json
	npm ci --no-audit --no-fund --prefix web/runtimes
	@touch $@

$(SITE): web/site/package-lock.json $(NPM)
	npm ci --no-audit --no-fund --prefix web/site
	@touch $@

$(MOTION): lab/motion/package-lock.json
	npm ci --no-audit --no-fund --prefix lab/motion
	@touch $@

# Without these rules, the web parts are taken as they are: scripts/test.mjs builds them once and runs several targets at a time.
ifndef GROUPWIRE_WEB_IS_BUILT
# Runs at every build, because only Cargo knows the sources; the script does not touch a file that is up to date.
$(WASM): $(NPM) FORCE
	@scripts/wasm.sh

# The same script writes it.
$(ROOM): $(WASM) ;

$(WEB): $(WASM) $(ROOM) $(WEB_SOURCES)
	@echo "web: building the client and the pages (some 15 s)"
	@cd web && npm run --silent build
	-@node scripts/check-size.mjs
endif
