# The targets that people and CI use. Cargo does the work.

CARGO ?= cargo
# the targets below expect builds here, whatever the environment or Cargo's configuration says
export CARGO_TARGET_DIR := $(CURDIR)/target
WINDOWS = x86_64-pc-windows-gnu
ARM = aarch64-unknown-linux-gnu
# Debian keeps wine64 out of the path
WINE ?= $(firstword $(wildcard /usr/bin/wine64 /usr/lib/wine/wine64) wine)

.PHONY: help build pgo dist test page-test slurm-test numa-test lint bench windows aarch64

help:
	@echo 'make build    release build, target/release/toratsugumi'
	@echo 'make pgo      build with all optimizations and a profile of its own bench, target/pgo/toratsugumi (rustup component add llvm-tools)'
	@echo 'make dist     archives for Windows, Linux and ARM in target/dist, see .ci/dist'
	@echo 'make test     all tests'
	@echo 'make page-test the page of analyse --html in a headless Chromium (CHROMIUM=path)'
	@echo 'make slurm-test  the learning loop on a Slurm of two nodes (slurm-wlm, munge)'
	@echo 'make numa-test   threads and memory on emulated machines of several memory nodes, see .ci/numa/run'
	@echo 'make lint     formatting and clippy'
	@echo 'make bench    the signature of the search and its speed'
	@echo 'make windows  cross build for Windows, and its bench under wine against the native one'
	@echo 'make aarch64  cross build for ARM, and the evaluation tests with NEON under qemu'

build:
	$(CARGO) build --release

HOST = $(shell rustc -vV | sed -n 's/^host: //p')
LLVM_PROFDATA ?= $(shell rustc --print sysroot)/lib/rustlib/$(HOST)/bin/llvm-profdata
PGO = target/pgo
# RUSTFLAGS are separated by blanks
PGO_DIR = $(CURDIR)/$(PGO)
pgo:
	@[ -x '$(LLVM_PROFDATA)' ] || { echo 'no llvm-profdata: rustup component add llvm-tools' >&2; exit 1; }
	@case '$(CURDIR)' in *' '*) echo 'pgo: the path has a blank: $(CURDIR)' >&2; exit 1;; esac
	rm -rf $(PGO)/raw $(PGO)/run
	mkdir -p $(PGO)/run
	RUSTFLAGS="$$RUSTFLAGS -Cprofile-generate=$(PGO_DIR)/raw" $(CARGO) build --profile dist --target $(HOST) --target-dir $(PGO)
	cd $(PGO)/run && '$(CURDIR)/.ci/profile' 13 '$(PGO_DIR)/$(HOST)/dist/toratsugumi'
	'$(LLVM_PROFDATA)' merge -o $(PGO)/merged.profdata $(PGO)/raw
	RUSTFLAGS="$$RUSTFLAGS -Cprofile-use=$(PGO_DIR)/merged.profdata" $(CARGO) build --profile dist --target $(HOST) --target-dir $(PGO)
	cp $(PGO)/$(HOST)/dist/toratsugumi $(PGO)/toratsugumi
	$(PGO)/toratsugumi bench

dist:
	.ci/dist

test:
	$(CARGO) test

page-test:
	$(CARGO) test --test suite review:: -- --ignored

slurm-test:
	$(CARGO) test --test suite learn:: -- --ignored --nocapture

numa-test:
	.ci/numa/run

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets -- -D warnings

bench: build
	target/release/toratsugumi bench

# older versions of wine lack this library
target/wine/bcryptprimitives.dll: .ci/wine/bcryptprimitives.c
	mkdir -p $(@D)
	x86_64-w64-mingw32-gcc -shared -o $@ $< -ladvapi32

# the bench runs from the directory of that library
windows: build target/wine/bcryptprimitives.dll
	$(CARGO) build --release --target $(WINDOWS)
	cp target/$(WINDOWS)/release/toratsugumi.exe target/wine/
	@native=$$(target/release/toratsugumi bench | tail -n 1); \
	windows=$$(WINEDEBUG=-all $(WINE) target/wine/toratsugumi.exe bench | tr -d '\r' | tail -n 1); \
	echo "native:  $$native"; echo "windows: $$windows"; \
	[ -n "$$windows" ] && [ "$${native%% *}" = "$${windows%% *}" ]

aarch64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER ?= aarch64-linux-gnu-gcc
aarch64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER ?= qemu-aarch64 -L /usr/aarch64-linux-gnu
# the skipped test starts the program, which does not work under qemu; the bench below replaces it
aarch64: build
	$(CARGO) build --release --target $(ARM)
	$(CARGO) test --target $(ARM) --test suite nnue:: -- --skip every_kernel_at_hand
	$(CARGO) test --target $(ARM) --lib nnue::
	@native=$$(target/release/toratsugumi bench --depth 9 | tail -n 1); \
	arm=$$($$CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER target/$(ARM)/release/toratsugumi bench --depth 9 | tail -n 1); \
	echo "native:  $$native"; echo "aarch64: $$arm"; \
	[ -n "$$arm" ] && [ "$${native%% *}" = "$${arm%% *}" ]
