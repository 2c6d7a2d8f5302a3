.DEFAULT_GOAL := help
.PHONY: help build test race lint bench plot torture microbench fuzz demo ci clean

LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 30s

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/bot
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/bot .

test: ## run the tests
	go test ./...

race: ## run the tests under the race detector
	go test -race ./...

lint: ## go vet and golangci-lint
	go vet ./...
	go run $(LINT) run ./...

bench: ## measure the program against other ways to do its work
	go test ./cmd -count 1 -timeout 1h -run '^TestBench$$' -ratios -v

plot: ## draw docs/performance/growth.svg from growth.csv
	go test ./cmd -count 1 -run '^TestGrowthPlot$$' -plot

torture: ## kill, race and cut off the real program for ten minutes
	go test ./cmd -count 1 -timeout 30m -run '^TestTorture$$' -torture -v

microbench: ## run the benchmarks of single functions
	go test -run '^$$' -bench . ./...

fuzz: ## run every fuzz target for FUZZTIME (30s)
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "-- $$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
		done; \
	done

demo: ## see the whole thing work, in ten seconds and without a network
	go run . demo

ci: ## run what a change has to pass
	bash .ci/run

clean: ## remove what the build left
	rm -rf bin bot
	go clean -testcache
