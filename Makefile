# make test       all tests, with every web server; installs the servers that are missing
# make build      the three programs, into BIN (./bin)
# make bench      us and our peers on the same work; installs the peers
# make bench-lua  classic programs in our Lua and in PUC Lua 5.1: processor time
# make benchmarks all Go benchmarks
# make torture    everything at once on one root, killed at random, for TORTURE (10m)
# make fuzz       each fuzz target for FUZZTIME (10s), two at a time
# make differential  random programs against PUC Lua 5.1, DIFFERENTIAL (100000) of each sort
# make pictures   takes the pictures of docs/web-page.md again
# make web        builds the script of the web page, admin/static/admin.js, from admin/web
# make bench-postgres   compares a root in PostgreSQL, with one host and three, with one in a file
# make licenses   writes the licences of what the programs contain, for scripter version --licenses
# make packages   .deb, .rpm and .tar.gz for amd64 and arm64, checksums, lists of contents, into DIST (./dist)
# make release    the packages of a tagged version, and its notes from CHANGELOG.md
# make test-packages   installs, sets up, upgrades and removes the package in a clean Debian
# make clean      removes what the others made

GO       ?= go
BIN      ?= bin
DIST     ?= dist
FUZZTIME ?= 10s
# What the tests of one package may take: a few minutes on a busy machine. What
# hangs is then ended, and its goroutines are printed.
TIMEOUT  ?= 20m
# How long "make torture" lasts.
TORTURE  ?= 10m

# Packages whose tests run goroutines against each other.
RACE  = ./autosave ./database ./fcgi ./fetch ./foldersync ./gateway ./login ./lua ./metrics ./objectdb ./objectdb/sqlitestore \
        ./objectfiles ./outbox ./purge ./runner ./scheduler ./script ./site ./workers
# Packages that start whole programs and web servers.
TRANSPORTS = ./internal/corpus ./conf-examples
COUNTS = $(CURDIR)/bin/corpus-counts
# What is counted of the language.
LANGUAGE = $(CURDIR)/bin/language-counts
# How many programs of each sort "make differential" compares, and the first seed.
DIFFERENTIAL ?= 100000
SEED         ?= 1000000

# Tests that treat whole programs badly; alone, because they use all of the machine.
BLACKBOX = ./internal/torture

# The C code, SQLite and the relay of scripter-cgi, checks its stack and buffers.
export CGO_CFLAGS ?= -O2 -g -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
# The programs are position-independent; what the linker resolves is read-only.
HARDENED = -Wl,-z,relro,-z,now
PIE = -buildmode=pie -ldflags '-extldflags "$(HARDENED)"'
# scripter-cgi is started for each request: linked statically it starts faster.
STATIC = -buildmode=pie -tags netgo,osusergo -ldflags '-s -w -linkmode external -extldflags "-static-pie $(HARDENED) -Wl,--no-warnings"'

.PHONY: test modules check unit language differential differential-golden transports blackbox torture servers build bench bench-postgres bench-lua benchmarks fuzz web pictures licenses packages release test-packages clean

# One after the other, also with -j: each uses all of the machine, and needs what
# the one before has installed or built.
.NOTPARALLEL:

test: modules servers check unit language transports blackbox
	@echo
	@cat $(LANGUAGE)
	@cat $(COUNTS)
	@echo "make test: all passed"

# The modules that are needed; a net that fails for a moment is asked again.
modules:
	@for pause in 5 10 20 40 0; do \
		$(GO) mod download && exit 0; \
		[ $$pause = 0 ] || { echo "make test: the modules are asked for again in $$pause s" >&2; sleep $$pause; }; \
	done; exit 1

# Formatting, vet, staticcheck.
check:
	@bad="$$(gofmt -l .)"; if [ -n "$$bad" ]; then echo "gofmt: needs formatting: $$bad" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

unit:
	SCRIPTER_REQUIRE_SERVERS=1 $(GO) test -timeout $(TIMEOUT) -race $(RACE)
	SCRIPTER_REQUIRE_SERVERS=1 $(GO) test -timeout $(TIMEOUT) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(RACE) $(TRANSPORTS) $(BLACKBOX))")

# All that the tests of the language have, with exact times. -count=1: a result
# from the cache counts nothing.
language:
	@mkdir -p bin
	@rm -f $(LANGUAGE)
	SCRIPTER_REQUIRE_SERVERS=1 SCRIPTER_LANGUAGE_COUNTS=$(LANGUAGE) \
		$(GO) test -timeout $(TIMEOUT) -count=1 -run 'Differential|Official|Bombs|Hoards' ./lua

# Random programs and library calls, here and in Debian's lua5.1.
differential: servers
	SCRIPTER_REQUIRE_SERVERS=1 SCRIPTER_DIFFERENTIAL=$(DIFFERENTIAL) SCRIPTER_DIFFERENTIAL_FROM=$(SEED) \
		$(GO) test -count=1 -timeout 0 -v -run 'TestDifferential$$' ./lua

# Writes anew what PUC Lua prints, after a change of the generator.
differential-golden: servers
	SCRIPTER_DIFFERENTIAL_WRITE=1 $(GO) test -count=1 -run TestDifferentialGolden ./lua

# The corpus on all transports. -count=1: a result from the cache has started no server.
transports: build
	@rm -f $(COUNTS)
	SCRIPTER_REQUIRE_SERVERS=1 SCRIPTER_BIN=$(CURDIR)/bin SCRIPTER_CORPUS_COUNTS=$(COUNTS) \
		$(GO) test -timeout $(TIMEOUT) -count=1 $(TRANSPORTS)

blackbox: build
	SCRIPTER_REQUIRE_SERVERS=1 SCRIPTER_BIN=$(CURDIR)/bin $(GO) test -timeout $(TIMEOUT) -count=1 $(BLACKBOX)

torture: build
	SCRIPTER_BIN=$(CURDIR)/bin SCRIPTER_TORTURE=$(TORTURE) $(GO) test -count=1 -v -timeout 0 -run 'TestTorture|TestHostileScripts|TestPowerLoss|TestRandomProtocol' $(BLACKBOX)
	OBJECTDB_TEST_TORTURE=10 $(GO) test -count=1 -v -timeout 0 -run 'Damaged|KilledAtRandom' ./objectdb/sqlitestore
	FOLDERSYNC_KILL_ROUNDS=500 $(GO) test -count=1 -v -timeout 0 -run TestKill ./foldersync

# The web servers of the tests, and the npm packages of the web page's script; nothing
# that it installs is left running.
servers:
	@bash conf-examples/install-servers
	@bash admin/web/install

build:
	@mkdir -p $(BIN)
	$(GO) build $(PIE) -o $(BIN)/ ./cmd/...
	@$(GO) build $(STATIC) -o $(BIN)/scripter-cgi ./cmd/scripter-cgi 2>/dev/null || \
		echo "make build: scripter-cgi is linked dynamically, which starts a little slower: the C library's static form is not there"

bench: build
	@bash bench/install-peers
	$(GO) run ./bench

# A root in PostgreSQL, with one host and three, against one in a file. Only root can make the cgroups of the hosts.
# ARGS such as "-works W3,edits -kill 1m" shorten it.
bench-postgres: servers build
	$(GO) run ./bench -postgres -clients 16 $(ARGS)

# ROUNDS and PROGRAMS (such as nbody,json) shorten it.
bench-lua: servers
	$(GO) run ./bench/lua -rounds $(or $(ROUNDS),5) -programs '$(PROGRAMS)'

benchmarks:
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz:
	@GO=$(GO) FUZZTIME=$(FUZZTIME) .ci/fuzz

# A test compares what this writes.
web:
	@bash admin/web/install
	@cd admin/web && npm run --silent build

pictures: servers
	SCRIPTER_REQUIRE_SERVERS=1 $(GO) test -count=1 -run 'TestPictures$$' ./admin -pictures

# A test compares what this writes.
licenses:
	$(GO) test -count=1 -run 'TestBuild$$' ./admin/web -update
	$(GO) test -count=1 -run 'TestLicenses$$' ./cmd/scripter -update

# ARCHS=amd64 makes them for one architecture. Each architecture but this machine's needs Debian's compiler for it.
packages:
	@GO=$(GO) DIST=$(abspath $(DIST)) HARDENED=$(HARDENED) packaging/build

release:
	@GO=$(GO) DIST=$(abspath $(DIST)) HARDENED=$(HARDENED) packaging/release

test-packages:
	@GO=$(GO) HARDENED=$(HARDENED) packaging/test

clean:
	rm -rf bin dist admin/web/node_modules
