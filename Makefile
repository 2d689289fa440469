# Two commands do all the set-up on a machine that has Python >= 3.11, a C compiler and make:
#   make demo    trains, prints what it did, writes pictures
#   make test    installs what the tests need and runs them
# Further: make bench, make lint, make build (kernels only), make clean.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(wildcard cython_ext/* cascade/runtime/*)

.PHONY: demo test lint sanitize bench build clean
.DELETE_ON_ERROR:

demo: $(VENV)/.installed-demo
	$(BIN)/cascade demo

test: $(VENV)/.installed-test lint
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/mypy

# The kernels under AddressSanitizer and UBSan, over hostile model files and frames of every size.
sanitize: $(VENV)/.installed-test
	CASCADE_SANITIZE=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target build/sanitize .
	LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	  PYTHONMALLOC=malloc PYTHONPATH=build/sanitize:. \
	  $(BIN)/python -P -m pytest -q -o pythonpath= tests/kernels tests/hostile tests/test_detector.py \
	  tests/test_quickboost.py tests/test_boosting.py tests/test_trees.py

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
