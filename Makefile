# make demo      install what is needed, build, and show Kelvin at work on its embedded model
# make test      install what is needed, build, and run every test
# make install   install program, C library and header, PREFIX=/usr/local unless said
# make wheel     the Python wheel; make deb, make tar: packages that need no build; make bundle: for SwiftPM; all under
#                .build/packages
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

.PHONY: demo test build library install wheel deb tar bundle bootstrap check conformance clean

demo: bootstrap build
	@dev/demo.sh

# One release build serves program and tests: a debug build would compile the kernels without optimisation. Memory holds
# not-a-number before it is written, so that nothing relies on zeros.
test:
	@dev/bootstrap.sh --tests
	$(SWIFT) build -c release --build-tests $(CHECKED)
	KELVIN_FRESH_MEMORY=255 $(SWIFT) test -c release --disable-testable-imports --skip-build

build: bootstrap
	$(SWIFT) build -c release --product kelvin $(CHECKED)

library: bootstrap
	$(SWIFT) build -c release --product KelvinC $(CHECKED)

install: build library
	dev/package/stage.sh "$(DESTDIR)" "$(PREFIX)"

wheel: build library
	@dev/package/archives.sh wheel

deb tar bundle: build library
	@dev/package/archives.sh $@

bootstrap:
	@dev/bootstrap.sh

check:
	dev/check.sh

conformance: library
	dev/conformance.py

clean:
	rm -rf .build
