# make demo   an audit of well-known questions in bundled vectors: bayesbias-demo/report.html
# make test   every check: lint, types, layers, tests, doctests, and the wheel; TESTS='-m slow' chooses tests
# make test-lowest, make test-newest  the quick tests on the lowest and the newest Python, where they can be had
# make test-extras  the tests of what needs torch, in an environment of its own (7 GB)
# make docs   the site, in docs/_build/html/
# make validate  the long tests, of which make test has short versions
# make fuzz   50,000 hostile inputs, 220 commands killed, 160 interrupted, several at once
# make dist   sdist and wheel, checked, in dist/
# make bench  speed and memory, beside their limits
#
# All set-up is done here: git, make and python3 with pip are enough. Where no Python fits, uv gets one.

UV := .tools/uv/bin/uv
BIN := .venv/bin
# Tests side by side, each with one thread: more threads than cores only wait for each other.
WORKERS := 2
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 RAYON_NUM_THREADS=1
# Python keeps compiled modules on machines that forbid it too: every process would compile them anew.
unexport PYTHONDONTWRITEBYTECODE
# Only .ci/python asks for a download, where nothing else is there.
export UV_PYTHON_DOWNLOADS := manual

.PHONY: demo test test-lowest test-newest test-extras check docs validate fuzz dist bench calibrate format clean
.DELETE_ON_ERROR:

demo: .venv/ready
	$(BIN)/bayesbias demo --output bayesbias-demo --overwrite

test: check
	$(ONE_THREAD) $(BIN)/pytest -q $(TESTS) -n $(WORKERS) --dist worksteal --durations=30
	.ci/wheel

test-lowest test-newest: .venv/ready
	$(ONE_THREAD) .ci/quick $(@:test-%=%)

test-extras: .venv-extras/ready
	$(ONE_THREAD) .venv-extras/bin/pytest -q -m extras -n $(WORKERS) --dist worksteal --durations=10

# Takes long: larger samples and tables, NUTS beside the other samplers, every notebook.
validate: .venv/ready
	$(ONE_THREAD) $(BIN)/pytest -q -m truth -n $(WORKERS) --dist worksteal --durations=10

check: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell
	$(BIN)/repo-review --show err .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zizmor --quiet --offline .github/workflows

docs: .venv/docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

# Hostile inputs to every reader: none may end in a traceback, a hang or a wrong number.
# Then the properties that make test checks on the same inputs every time, on others.
# Then commands killed at random, and several at once, which takes longer: what they leave is old or new, whole.
# Then commands interrupted: each ends in one line, and leaves no process and no port.
fuzz: .venv/ready
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz
	$(ONE_THREAD) $(BIN)/pytest -q -n $(WORKERS) -m hypothesis --hypothesis-profile=other_inputs tests
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz.kills
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz.interrupts

dist: .venv/ready
	$(ONE_THREAD) .ci/release

bench: .venv/ready
	$(BIN)/python -m tests.bench

# About an hour: validation/calibration/README.md says what its numbers mean.
calibrate: .venv/ready
	$(BIN)/python validation/calibration/calibrate.py

format: .venv/ready
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf docs/_build docs/generated docs/notebooks docs/validation .venv .venv-extras .venv-lowest .venv-newest .venv-bounds .tools dist bayesbias-demo .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# pip puts uv into a folder of its own: nothing is installed on the machine.
$(UV):
	python3 -m pip install --quiet --disable-pip-version-check --no-warn-script-location --target .tools/uv 'uv>=0.9'

.venv/docs: .venv/ready
	$(UV) sync --quiet --frozen --group docs --python "$$(.ci/python)"
	@touch $@

.venv/ready: $(UV) pyproject.toml uv.lock
	@.ci/python >/dev/null
	$(UV) sync --quiet --frozen --compile-bytecode --python "$$(.ci/python)"
	@touch $@

.venv-extras/ready: $(UV) pyproject.toml uv.lock
	@.ci/python >/dev/null
	UV_PROJECT_ENVIRONMENT=.venv-extras $(UV) sync --quiet --frozen --all-extras --group encoder-model --python "$$(.ci/python)"
	@touch $@
