# Two commands do all the set-up on a machine that has Python >= 3.11, a C compiler and make:
#   make demo    trains, prints what it did, writes pictures
#   make test    installs what the tests need and runs them
# Further: make bench, make lint, make test-opencv4, make test-devices, make sanitize, make fuzz, make broken,
# make build (kernels only), make clean.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OPENCV4 := build/venv-opencv4
SOURCES := pyproject.toml setup.py $(wildcard cython_ext/* cascade/runtime/*)

.PHONY: demo test test-opencv4 test-devices lint sanitize fuzz broken bench build clean
.DELETE_ON_ERROR:

demo: $(VENV)/.installed-demo
	$(BIN)/cascade demo

test: $(VENV)/.installed-test lint
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/mypy

# The same tests with the older OpenCV that many still have, in an environment of its own.
test-opencv4:
	$(MAKE) $(OPENCV4)/.installed-test VENV=$(OPENCV4)
	$(OPENCV4)/bin/python -m pip install --quiet --disable-pip-version-check 'opencv-python>=4.14,<5'
	$(OPENCV4)/bin/python -c 'import cv2; print("OpenCV", cv2.__version__); assert cv2.__version__ < "5"'
	$(OPENCV4)/bin/python -m pytest -q

# Exported C on other processors and on Cortex-M boards, under emulation. The tool chains are Debian's; they are
# installed if one is missing.
DEVICES := clang qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf \
  libc6-dev-armhf-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-arm-none-eabi libnewlib-arm-none-eabi \
  qemu-system-arm

test-devices: $(VENV)/.installed-test
	@dpkg-query -W $(DEVICES) > /dev/null 2>&1 || \
	  { $$(test "$$(id -u)" = 0 || echo sudo) apt-get update -q && \
	    $$(test "$$(id -u)" = 0 || echo sudo) apt-get install -q -y --no-install-recommends $(DEVICES); }
	CASCADE_DEVICES=1 $(BIN)/python -m pytest -q tests/export

# The kernels under AddressSanitizer and UBSan, over hostile model files and frames of every size.
SANITIZED := LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libubsan.so)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  PYTHONMALLOC=malloc PYTHONPATH=build/sanitize:. $(BIN)/python -P

build/sanitize/.built: $(VENV)/.installed-test $(wildcard cascade/*.py)
	CASCADE_SANITIZE=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target build/sanitize .
	@touch $@

sanitize: build/sanitize/.built
	$(SANITIZED) -m pytest -q -s -o pythonpath= tests/kernels tests/hostile tests/test_detector.py \
	  tests/test_features.py tests/test_quickboost.py tests/test_boosting.py tests/test_trees.py

# Hostile model files and frames for as long as you like: make fuzz SECONDS=3600 SEED=1000000
SECONDS ?= 600
SEED ?= 0
fuzz: build/sanitize/.built
	$(SANITIZED) -m tests.fuzz --seconds $(SECONDS) --seed $(SEED)

# Ten thousand pictures, a tenth of them broken: each must be named, no other, in little memory.
broken: $(VENV)/.installed-test
	$(BIN)/python -m tests.dataset.broken 10000

bench: $(VENV)/.installed-bench
	$(BIN)/python -m tests.bench

build: $(VENV)/.installed-demo

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: cascade needs Python >= 3.11; $(PYTHON) is $$($(PYTHON) -V). Try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$@ -m pip install --quiet --disable-pip-version-check --upgrade pip

# One install for each kind of use; the kernels are rebuilt when their sources change.
$(VENV)/.installed-%: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info cascade/_ext/*.so
