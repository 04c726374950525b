# Builds, tests and installs Vellum. `make` alone lists the targets. Needs GNU make 3.81 or later.

PREFIX ?= /usr/local
DESTDIR ?=
# Arguments for the program that `run` or `bench` starts.
ARGS ?=
# Seconds that `soak` lasts.
DURATION ?= 60
# Seconds after which `test` is ended, build excluded.
TEST_TIMEOUT ?= 900
# Targets of `fuzz`, and seconds for each.
TARGET ?= segment frames index descriptor cbor json query terminal import
SECONDS ?= 60

SWIFT ?= swift
# Package.swift turns warnings into errors if this is set. It doesn't read CI, which users set for builds that include this package.
ifdef CI
export VELLUM_STRICT = 1
endif
# Shown by `vellum --version`; empty for sources without their own repository.
export VELLUM_COMMIT := $(if $(wildcard .git),$(shell git describe --always --dirty --abbrev=10 --exclude '*' 2>/dev/null))
ifeq ($(VELLUM_COMMIT),)
unexport VELLUM_COMMIT
endif
NEED := sh Assets/build/need.sh
BINARY := .build/release/vellum
FORMAT_OPTIONS := --configuration Assets/swift-format.json --recursive --parallel
FORMATTED := Sources Tests Package.swift
# Optimized, since millions of calls of the engine take ten times as long otherwise. Assertions stay, and parts that only debug
# builds have: crash points, clocks. Debug information would take a quarter of the time.
# An undeclared import may pass an incremental build and fail a clean one, so it is an error.
OPTIMISED := -c release -Xswiftc -DDEBUG -Xswiftc -assert-config -Xswiftc Debug \
    --explicit-target-dependency-import-check error
TESTED := $(OPTIMISED) -debug-info-format none --scratch-path .build-test
# Without ValkeyTLS, whose BoringSSL takes minutes to build.
TRAITS ?= Valkey
# Nothing is imported as testable, for which a build takes half as long again. Four modules at once on any number of cores:
# otherwise the longest modules start last.
BUILD_TESTS = $(SWIFT) build --build-tests --jobs 4 --traits $(TRAITS)
RUN_TESTS = $(SWIFT) test --skip-build --disable-xctest --disable-testable-imports --traits $(TRAITS)
# Swift Testing keeps a backtrace of each thrown error, which takes a third of the time of tests with hostile bytes. Failures have
# their location without it.
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED = 0
# With --foreground Ctrl-C reaches the tests, and on an interrupt SwiftPM ends its children. macOS has no timeout command; there the
# tests' time limits apply.
BOUND := $(shell command -v timeout >/dev/null 2>&1 && echo timeout --foreground -s INT -k 20 $(TEST_TIMEOUT))
# Line-buffered into a pipe, too, so that the last lines of an interrupted run show the running tests.
LINES := $(shell command -v stdbuf >/dev/null 2>&1 && echo stdbuf -oL)
# A folder for the tests' files, removed after all tests (see `discard` in Tests/TestSupport). Writable by all, like /tmp, for tests
# with other users.
IN_A_FOLDER := folder=$$(mktemp -d) && chmod 1777 "$$folder" && trap 'exit 130' INT TERM && \
    trap 'chmod -R u+rwx "$$folder"; rm -rf "$$folder"' EXIT && TMPDIR="$$folder" VELLUM_TEST_FOLDER="$$folder"
TEST_EVENTS := .build-test/events.jsonl
INSTALL := install
# Each soak test appends its figures, a line each.
SOAK_REPORT := .build/soak-report.txt

.DEFAULT_GOAL := help
# SwiftPM locks its build folder, so parallel targets would only wait.
.NOTPARALLEL:
.PHONY: help deps test-deps bench-deps build run test test-tls lint format bench counts soak fuzz sanitize pictures docs install install-files \
    uninstall deb check-deb clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s  %s\n", $$1, $$2 }' Makefile

deps: ## install ncurses for the build, or name its package
	@$(NEED) swift curses

test-deps: deps
	@$(NEED) --optional tmux
	@$(NEED) --optional redis-server

bench-deps: deps
	@$(NEED) lmdb sqlite

build: deps ## build vellum, optimized, as .build/release/vellum (TLS=1: with TLS for servers, which takes minutes)
	$(SWIFT) build -c release --product vellum $(if $(TLS),--traits ValkeyTLS)

run: build ## build, then browse a live demo store (ARGS="…" for vellum demo)
	$(BINARY) demo $(ARGS)

test: test-deps ## build and run all tests (CI=1 makes warnings errors)
	$(BUILD_TESTS) $(TESTED)
	@rm -f $(TEST_EVENTS)
	$(IN_A_FOLDER) $(BOUND) $(LINES) $(RUN_TESTS) $(TESTED) \
	    --event-stream-output-path $(TEST_EVENTS) --event-stream-version 0 \
	    || { status=$$?; sh Assets/build/failed.sh $(TEST_EVENTS); exit $$status; }

# In the folder of `test`, so that only modules with TLS are rebuilt.
test-tls: TRAITS := ValkeyTLS
test-tls: test-deps ## run the tests of TLS, whose build takes minutes
	@$(NEED) --optional openssl
	$(BUILD_TESTS) $(TESTED)
	$(IN_A_FOLDER) $(BOUND) $(LINES) $(RUN_TESTS) $(TESTED) --filter ValkeyTLSTests

lint: ## check the formatting
	@$(NEED) swift
	$(SWIFT) format lint --strict $(FORMAT_OPTIONS) $(FORMATTED)

format: ## format the sources in place
	@$(NEED) swift
	$(SWIFT) format --in-place $(FORMAT_OPTIONS) $(FORMATTED)

counts: deps ## count allocations, system calls, page faults and instructions of operations
	$(SWIFT) build -c release --product OperationCounter
	.build/release/OperationCounter $(ARGS)

# The manifest looks for RocksDB, so its cached result may be outdated.
bench: bench-deps build ## measure against LMDB and SQLite (ONLY=P5: these rows): table, and .build/bench.json
	@mkdir -p .build
	$(SWIFT) run -c release --manifest-cache none --package-path Tests/Benchmarks --scratch-path "$(CURDIR)/.build-bench" \
	    vellum-bench --output "$(CURDIR)/.build/bench.json" --browser "$(CURDIR)/$(BINARY)" \
	    $(if $(ONLY),--filter "$(ONLY)") $(ARGS)

# Tests of other environments: full disks, containers, other users, scarce descriptors, occupied names.
SURROUNDINGS := SmallDiskTests|NamespaceTests|AccessTests|ScarceDescriptorTests|ObstacleTests|PlaceTests
soak: test-deps ## run the soak tests for about DURATION=60 seconds, one after the other
	$(BUILD_TESTS) $(TESTED)
	@# A filter that matches nothing would pass.
	@$(SWIFT) test list --skip-build --disable-testable-imports --traits $(TRAITS) $(TESTED) | grep -q Soak || { echo 'vellum: there are no soak tests' >&2; exit 1; }
	@rm -f $(SOAK_REPORT)
	@VELLUM_SOAK_SECONDS=$(DURATION) VELLUM_SOAK_REPORT="$(CURDIR)/$(SOAK_REPORT)" \
	    $(RUN_TESTS) $(TESTED) --no-parallel --filter 'Soak|$(SURROUNDINGS)'; \
	    status=$$?; echo; sort $(SOAK_REPORT); exit $$status

fuzz: deps ## feed TARGET="cbor …" (all in turn) with arbitrary bytes, SECONDS=60 each
	$(SWIFT) build -c release --package-path Tests/Fuzzers --scratch-path "$(CURDIR)/.build-fuzz" --sanitize=fuzzer
	sh Assets/build/fuzz.sh .build-fuzz/release/vellum-fuzz .build-fuzz $(SECONDS) $(TARGET)

SANITIZED := CBORTests|CacheAdvanceTests.RingFile|ArchiveQueryTests|TerminalKitTests|StorageEngineTests|VellumTests|PapyrusTests|FuzzTests
SANITIZERS ?= address thread undefined
# Excluded from the thread sanitizer, which sees one process only: suites with many processes. It also uses unlimited addresses, and
# can't follow a multithreaded process that forks. System calls are counted without sanitizers.
UNFIT_thread := KillTests|StormTests|HistoryTests|SharingTests|ForkTests|ForkedTests|manyArchives|addressesThatAreNotGranted|OperationCountTests
# Needs more addresses than these tests allow.
UNFIT_address := manyArchives|OperationCountTests
# Swift traps on undefined behavior, so only C is instrumented, with a trap instruction, which needs no library.
SANITIZE_undefined := -Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined
sanitize: deps ## run the libraries' tests with the SANITIZERS="address thread undefined"
	$(foreach kind,$(SANITIZERS),$(call sanitize,$(kind),$(or $(SANITIZE_$(kind)),--sanitize=$(kind)))$(newline))

define newline


endef
define sanitize
	$(BUILD_TESTS) $(OPTIMISED) $(2) --scratch-path .build-$(1)
	VELLUM_SLOWDOWN=30 ASAN_OPTIONS=detect_leaks=0 \
	    TSAN_OPTIONS="suppressions=$(CURDIR)/Assets/build/thread-sanitizer.txt" \
	    $(RUN_TESTS) --no-parallel $(OPTIMISED) \
	    $(2) --scratch-path .build-$(1) --filter '$(SANITIZED)' $(if $(UNFIT_$(1)),--skip '$(UNFIT_$(1))')
endef

PRODUCTS := Vellum VellumTesting VellumMetrics VellumLifecycle VellumRemote VellumValkey ArchiveQuery CacheAdvance Nest NestRemote Papyrus StorageEngine CBOR
docs: deps ## make web pages of the libraries' documentation: .build/docs
	$(SWIFT) build -c release --traits $(TRAITS)
	sh Assets/build/docs.sh .build/release .build/docs $(PRODUCTS)

pictures: build ## record the tour of the manual and draw its pictures
	sh Assets/pictures/make.sh $(BINARY)

# `sudo make install` after `make build` installs the built program: root may have no Swift, and must not own files in the build
# folder.
install: $(if $(and $(SUDO_USER),$(wildcard $(BINARY))),,build) install-files ## install to PREFIX=/usr/local (DESTDIR= for packagers)

# `install` without building; BINARY= names a program that was built elsewhere.
install-files:
	$(INSTALL) -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/vellum/demo"
	$(INSTALL) -m 755 "$(BINARY)" "$(DESTDIR)$(PREFIX)/bin/vellum"
	$(INSTALL) -m 644 Assets/demo/LICENSE.md "$(DESTDIR)$(PREFIX)/share/vellum/demo"
	$(INSTALL) -d "$(DESTDIR)$(PREFIX)/share/man/man1"
	$(INSTALL) -m 644 Assets/man/vellum.1 "$(DESTDIR)$(PREFIX)/share/man/man1/vellum.1"
	$(INSTALL) -d "$(DESTDIR)$(PREFIX)/share/bash-completion/completions"
	$(INSTALL) -m 644 Assets/completions/vellum.bash "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/vellum"
	$(INSTALL) -d "$(DESTDIR)$(PREFIX)/share/zsh/site-functions"
	$(INSTALL) -m 644 Assets/completions/_vellum "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_vellum"
	$(INSTALL) -d "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	$(INSTALL) -m 644 Assets/completions/vellum.fish "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/vellum.fish"

uninstall: ## remove installed files from PREFIX=/usr/local
	rm -f $(addprefix "$(DESTDIR)$(PREFIX)"/,$(INSTALLED))
	rm -rf "$(DESTDIR)$(PREFIX)/share/vellum"

INSTALLED := bin/vellum share/man/man1/vellum.1 share/bash-completion/completions/vellum \
    share/zsh/site-functions/_vellum share/fish/vendor_completions.d/vellum.fish

deb: deps ## build a Debian package, .build/vellum_VERSION_ARCHITECTURE.deb
	@mkdir -p .build
	sh Assets/build/deb.sh "$(SWIFT)" .build

check-deb: deb ## check that package with lintian and on a bare Debian, as root
	sh Assets/build/check-deb.sh "$$(ls -t .build/vellum_*.deb | head -n 1)"

clean: ## remove all build folders
	rm -rf .build .build-test .build-bench .build-fuzz .build-address .build-thread .build-undefined .build-static
