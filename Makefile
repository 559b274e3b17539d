# Everything a machine with Python 3.11+ needs: `make demo`, `make test`, `make lint`, `make bench`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Where Python may not keep what it compiled, each of the tests' many processes compiles it all anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo serve check test nightly core lint docs lowest versions bench dist check-wheel release clean

demo: $(VENV)/installed
	$(BIN)/fabula demo

serve: $(VENV)/installed-serve
	@# Ctrl-C is how it ends: Make would call 130 an error.
	$(BIN)/fabula serve --open || test $$? -eq 130

test: $(VENV)/installed-test $(VENV)/readers $(VENV)/neo4j-classes.aot
	$(BIN)/python scripts/run_tests.py

check: lint $(VENV)/installed-test
	$(BIN)/python -m pytest --numprocesses 2 -m 'not server and not slow and not nightly'

# The core without the packages beside it: what needs no server, and the journeys.
core: $(VENV)/installed-test $(VENV)/readers $(VENV)/neo4j-classes.aot
	$(BIN)/python scripts/core_only.py

nightly: $(VENV)/installed-test $(VENV)/readers $(VENV)/neo4j-classes.aot
	$(BIN)/python scripts/run_tests.py nightly

lint: $(VENV)/installed-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/budget.py

# The documentation site, into build/site. A warning is an error, and nothing is fetched.
docs: $(VENV)/installed-docs
	PYTHONPATH=scripts $(BIN)/python -m docs_site

# The fast tests with the lowest versions that pyproject.toml allows, in an environment of their own.
# Old releases warn of the newer packages beside them, which is no fault of ours: nobody is shown it.
lowest:
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet uv
	$(VENV)-lowest/bin/uv pip install --quiet --python $(VENV)-lowest/bin/python \
	  --resolution lowest-direct --editable '.[bench,dask,local,png,rdf,serve,umap]' --group test
	$(VENV)-lowest/bin/python -m pytest -W default -m 'not server and not slow and not nightly'

# After `make clean`: the newest versions of today, for .ci/run.
versions: $(VENV)/installed-lint $(VENV)/readers
	$(BIN)/python -m pip freeze --exclude-editable > .ci/versions.txt

# `make bench BOOKS=data/books` also measures what needs real books and gold data beside them.
bench: $(VENV)/installed-test
	$(BIN)/python -m fabula_bench.speed $(if $(BOOKS),--books $(BOOKS))

# The sdist, and the wheel from it: what the sdist lacks, the wheel lacks, too.
dist: $(VENV)-release/installed
	rm -rf dist
	$(VENV)-release/bin/python -m build --outdir dist
	$(VENV)-release/bin/twine check --strict dist/*

# The wheel as a user installs it, in an environment of its own with an empty home.
check-wheel: dist
	$(VENV)-release/bin/python scripts/check_wheel.py dist

# All files of a release in dist/; docs/releasing.md tells what to do with them.
release: check-wheel
	$(VENV)-release/bin/python scripts/check_release.py
	$(PYTHON) -m venv --clear $(VENV)-release/described
	$(VENV)-release/described/bin/python -m pip install --quiet \
	  "$$(ls dist/fabula-*.whl)[dask,keyring,local,local-models,otel,png,rdf,serve]"
	$(VENV)-release/described/bin/python -m pip uninstall --quiet --yes pip setuptools
	$(VENV)-release/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file "dist/$$(basename dist/fabula-*.tar.gz .tar.gz).cdx.json" $(VENV)-release/described/bin/python
	cd dist && sha256sum * > SHA256SUMS

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-release build dist

$(VENV)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Fabula needs Python 3.11 or later: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)-release/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-release/bin/python -m pip install --quiet --group release
	touch $@

$(VENV)/installed: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	touch $@

$(VENV)/installed-serve: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[local,serve]'
	touch $@

$(VENV)/installed-%: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[bench,dask,local,local-models,png,rdf,serve,umap]' --group $*
	touch $@

# Each of the tests' many Neo4js starts in half the CPU from what one has loaded.
$(VENV)/neo4j-classes.aot: $(VENV)/installed-test
	$(BIN)/python tests/support/archive_classes.py $@

# Other people's packages that search our graph. The last asks for neo4j<6, and works with 6.
$(VENV)/readers: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --group readers
	$(BIN)/python -m pip install --quiet --no-deps 'llama-index-vector-stores-neo4jvector>=0.7'
	touch $@
