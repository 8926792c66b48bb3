# make demo      install what is needed, build, and show Kelvin at work on its embedded model
# make test      install what is needed, build, and run the fast tests (CONTRIBUTING.md)
# make test-slow the other tests, and the fast ones that take more seeds or trials here; PART=0/4 to 3/4 are parts
# make install   install program, C library and header, PREFIX=/usr/local by default
# make wheel     the Python wheel; make deb, make tar: packages that need no build; make bundle: for SwiftPM;
#                make plugin: the SwiftPM plugin that writes classes for models; all under .build/packages
# make check     check file sizes, imports, layers, generated files and documentation (dev/check.sh)
# make conformance  run coremltools' own tests and the standard ONNX backend suite, and compare their counts with the last
#                ones (dev/conformance.py); for some hours; what that needs is installed in .build/conformance
#
# Longer checks have scripts of their own: dev/sanitize.sh (sanitizers), dev/fuzz.sh (libFuzzer), dev/fuzz-devices.sh
# (random graphs with special values), dev/kernels.sh (kernels of the CPU, aarch64's too), dev/soak.sh (many tasks and
# models at once), dev/compare-images.py (decoding against Pillow); dev/docs.sh builds the documentation.
PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
# A target imports nothing that its dependencies do not reach; dev/source_rules.py asks for more, that it declares it.
CHECKED = --explicit-target-dependency-import-check error
# The program loads no library from its own folder. dev/check.sh binaries checks this and what KELVIN_HARDENED adds.
HARDENED = --disable-local-rpath
export KELVIN_HARDENED = 1

# SwiftPM passes the traits' defines in the order of a hashed set. Without a fixed seed every process has another order, and
# every build compiles everything anew.
export SWIFT_DETERMINISTIC_HASHING = 1
# Unwritten memory holds not-a-number, so that no test relies on zeros.
RUN_TESTS = KELVIN_POISON_MEMORY=255 $(SWIFT) test -c release --disable-testable-imports --skip-build

.PHONY: demo test test-build test-slow build library install wheel deb tar bundle plugin bootstrap check conformance clean

demo: bootstrap build
	@dev/demo.sh

# One release build serves program and tests: a debug build would compile the kernels without optimisation.
test-build:
	@dev/bootstrap.sh --tests
	$(SWIFT) build -c release --build-tests $(CHECKED) $(HARDENED)
	$(SWIFT) build -c release --package-path Examples --scratch-path .build
	$(SWIFT) build -c release --build-tests --package-path Frameworks --scratch-path .build $(HARDENED)

test: test-build
	$(RUN_TESTS)
	$(RUN_TESTS) --package-path Frameworks --scratch-path .build

test-slow: test-build
	KELVIN_SLOW_TESTS=1 $(RUN_TESTS) --filter "$$(dev/slow-tests.py $(if $(PART),--part $(PART)))"

build: bootstrap
	$(SWIFT) build -c release --product kelvin $(CHECKED) $(HARDENED)

library: bootstrap
	$(SWIFT) build -c release --product KelvinC $(CHECKED) $(HARDENED)

install: build library
	dev/package/stage.sh "$(DESTDIR)" "$(PREFIX)"

wheel: build library
	@dev/package/archives.sh wheel

deb tar bundle: build library
	@dev/package/archives.sh $@

plugin: build
	@dev/package/archives.sh plugin

bootstrap:
	@dev/bootstrap.sh

check:
	dev/check.sh

conformance: library
	dev/conformance.py

clean:
	rm -rf .build
