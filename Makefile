# Everything a machine with Python 3.11+ needs: `make demo`, `make test`, `make lint`, `make bench`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Where Python may not keep what it compiled, each of the tests' many processes compiles it all anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo serve check test nightly lint lowest versions bench clean

demo: $(VENV)/installed
	$(BIN)/fabula demo

serve: $(VENV)/installed-serve
	@# Ctrl-C is how it ends: Make would call 130 an error.
	$(BIN)/fabula serve --open || test $$? -eq 130

test: $(VENV)/installed-test $(VENV)/readers $(VENV)/neo4j-classes.aot
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

check: lint $(VENV)/installed-test
	$(BIN)/python -m pytest --numprocesses 2 -m 'not server and not slow and not nightly'

nightly: $(VENV)/installed-test
	$(BIN)/python -m pytest -m nightly

lint: $(VENV)/installed-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# The fast tests with the lowest versions that pyproject.toml allows, in an environment of their own.
lowest:
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet uv
	$(VENV)-lowest/bin/uv pip install --quiet --python $(VENV)-lowest/bin/python \
	  --resolution lowest-direct --editable '.[bench,png,rdf,serve]' --group test
	$(VENV)-lowest/bin/python -m pytest -m 'not server and not slow and not nightly'

# After `make clean`: the newest versions of today, for .ci/run.
versions: $(VENV)/installed-lint $(VENV)/readers
	$(BIN)/python -m pip freeze --exclude-editable > .ci/versions.txt

# `make bench BOOKS=data/books` also measures what needs real books and gold data beside them.
bench: $(VENV)/installed-test
	$(BIN)/python -m bench $(if $(BOOKS),--books $(BOOKS))

clean:
	rm -rf $(VENV) $(VENV)-lowest dist

$(VENV)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Fabula needs Python 3.11 or later: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/installed: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-serve: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[serve]'
	touch $@

$(VENV)/installed-%: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[bench,png,rdf,serve]' --group $*
	touch $@

# Each of the tests' many Neo4js starts in half the CPU from what one has loaded.
$(VENV)/neo4j-classes.aot: $(VENV)/installed-test
	$(BIN)/python tests/support/archive_classes.py $@

# Other people's packages that search our graph. The last asks for neo4j<6, and works with 6.
$(VENV)/readers: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --group readers
	$(BIN)/python -m pip install --quiet --no-deps 'llama-index-vector-stores-neo4jvector>=0.7'
	touch $@
