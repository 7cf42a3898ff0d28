# Builds, tests and installs Weir; `make help` lists the targets.
#
# Everything made lies below $(BUILD). The sanitizer and fuzz builds are this same file run again with another
# BUILD and SANITIZE, so there is one list of flags. What a target runs, beyond the compiler, is in scripts/.

# All cores, unless -j says otherwise.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

ifeq ($(origin CC),default)
CC = gcc
endif
# Most of the time of sanitized tests is that of the compiler: they have the least that it does quickly, and lines. Only what
# runs longest under the address sanitizer is optimized a little there, and has its checks in place; elsewhere they are calls.
CFLAGS ?= $(if $(SANITIZE),-O0 -g1,-O2 -g1)
ifeq ($(origin CFLAGS)$(findstring address,$(SANITIZE)),fileaddress)
busy = $(if $(filter $(patsubst %,$(BUILD)/obj/%/%,base config engine machine explore ptx model render check/membar check/simt check/explain/simt check/prove),$@),-Og,$(checks_called))
checks_called := $(shell $(CC) -Werror --param asan-instrumentation-with-call-threshold=0 -E -xc /dev/null -o /dev/null 2>/dev/null && echo --param asan-instrumentation-with-call-threshold=0)
endif
# What the next compiler warns of must not keep anybody from building; where changes are tested it does.
WERROR ?= $(if $(CI),-Werror)
BUILD ?= build
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 60
CORPUS ?=

# (The dot in the pattern stands for a number sign, which make would take for a comment.)
# Tests and measurements check every kernel, each time.
export WEIR_CACHE :=

VERSION := $(shell sed -n 's/^.define WEIR_VERSION  *"\(.*\)".*/\1/p' include/weir/weir.h)
SONAME := libweir.so.0

# A null pointer that is followed ends the program anyway, and sizes of objects are what the address sanitizer knows. With
# TRAP=1 undefined behavior ends it by a trap, whose place the address sanitizer tells, and not what kind it is: that takes
# less to compile, and programs start in a third of the time.
sanitizers = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize=null -fno-sanitize=object-size -fno-sanitize-recover=undefined \
	$(if $(TRAP),-fsanitize-undefined-trap-on-error) -fno-omit-frame-pointer)
# Sanitizers make gcc see ghosts ("may be used uninitialized"), so there a warning stays a warning.
warnings = -Wall -Wextra $(if $(SANITIZE),,$(WERROR))
compile = $(CC) -std=c17 $(CFLAGS) $(warnings) $(sanitizers) -D_GNU_SOURCE $(if $(zstd),-DWEIR_ZSTD) -pthread -MMD -MP -MF $@.d
internal = -Isrc -Iinclude
# The build id tells results of this build from those of another (src/api/kept.c).
link = $(CC) $(CFLAGS) $(sanitizers) $(LDFLAGS) -Wl,--build-id=sha1 -pthread
# PTX that nvcc 13 puts into programs is compressed with zstd; without the library it is named, and not read.
ZSTD ?= $(shell printf '\043include <zstd.h>\nint main(void) { return (int)ZSTD_versionNumber(); }\n' | \
	$(CC) $(CFLAGS) $(LDFLAGS) -x c -o /dev/null - -lzstd 2>/dev/null && echo yes)
zstd := $(filter yes,$(ZSTD))
libraries = -ljansson $(if $(zstd),-lzstd) -lm
# Libraries that are linked in are not seen from outside; zig's linker cannot do that, and gets libraries that hide themselves.
exclude := $(shell $(CC) -shared -Wl,--exclude-libs,ALL -o /dev/null -xc /dev/null 2>/dev/null && echo -Wl,--exclude-libs,ALL)
# The archive of a library, where there is one, or the library.
archive = $(or $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a 2>/dev/null)),-l$(1))

# src/FLOOR/*.c, src/FLOOR/ROOM/*.c, or src/FLOOR/WING/ROOM/*.c; the command is a client of the library and stays out of it.
sources := $(filter-out src/device/%,$(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c))
# What goes into other people's programs is a library of its own.
exec_objects := $(patsubst src/runtime/%.c,$(BUILD)/runtime/%.o,$(filter src/runtime/%,$(sources)))
watching := $(patsubst %,$(BUILD)/runtime/capture/%.o,children capture_driver)
cli_objects := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(filter src/cli/%,$(sources)))
# What stands in for CUDA's libraries, which goes into other people's programs, too.
cuda_objects := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(filter src/cuda/%,$(sources)))
library_objects := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(filter-out src/cli/% src/cuda/% src/runtime/%,$(sources)))
# Under the thread sanitizer, what no test with threads reaches can be that of another build, PLAIN=DIR, which has it already.
ifneq ($(PLAIN),)
borrowed_floors := $(addsuffix /%,$(addprefix $(BUILD)/obj/,ptx/flow ptx/value instrument \
	check/lint/ptx check/simt check/explain/simt check/replay check/port check/report/trace))
borrowed := $(patsubst $(BUILD)/%,$(PLAIN)/%,$(filter $(borrowed_floors),$(library_objects)))
library_objects := $(filter-out $(borrowed_floors),$(library_objects))
endif

programs = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/$(1)))
unit_tests := $(call programs,unit/*_test.c)
api_tests := $(call programs,api/*.c)
fuzz_targets := $(call programs,fuzz/*_fuzz.c)
engine_benches := $(BUILD)/tests/bench/consan_bench $(BUILD)/tests/bench/gsan_bench
thread_benches := $(BUILD)/tests/bench/threads_bench $(BUILD)/tests/bench/global_threads_bench
freestanding := $(patsubst src/%.c,$(BUILD)/freestanding/%.o,$(wildcard $(patsubst %,src/engine/%.c,consan/consan consan/consan_tables shadow/gsan_cell shadow/shadow)))
reference_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/reference/*.c))
ptx_reference_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/reference/ptx/*.c))
litmus_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/reference/litmus/*.c))
litmus_machine_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/litmus/*.c))
membar_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/membar/*.c))
mutant_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/mutants/*.c))
PROVE_PTX = $(abspath $(wildcard tests/prove_ptx/*.ptx)) $(if $(KERNELS),$(abspath $(wildcard $(KERNELS)/*.ptx)))
prove_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/prove/*.c))
libfuzzer_targets := $(patsubst $(BUILD)/tests/fuzz/%,$(BUILD)/libfuzzer/%,$(fuzz_targets))

.DELETE_ON_ERROR:
.PHONY: needs house op-ids words lines links golden malformed kernels causes lint-mutants bench-compare bench-cuda bench-device bench-launches bench-gsan bench-machine bench-membar bench-proofs bench-ptx bench-races bench-record bench-size launch-cost shards exec-tutorials gpu-bench gpu-examples gpu-hangs gpu-images gpu-shadow membar-checks ptx-agree \
	gpu-programs no-gpu-programs FORCE all objects device help demo test complete global reference litmus membar membar-triton ptx ptx-sweep ptx-mutants device-triton ptx-suites ptx-values fences mutants prove-corpus prove-certificates prove-launches prove-mutants prove-oracle prove-ptx asan tsan fuzz bench gsan-rates \
	corpus found mutation ops docs site static package wheels newcomer validators release deb python-venv format tidy install uninstall clean unit-tests api-tests fuzz-targets libfuzzer-targets bench-programs

all: $(BUILD)/weir $(BUILD)/libweir.a $(BUILD)/libweir.so $(if $(SANITIZE),,$(BUILD)/libweir-gpu.so $(BUILD)/libweir-cuda.so $(BUILD)/libweir-children.so) ## build the command and the libraries (the default)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  CC=clang, CFLAGS=..., BUILD=DIR, SANITIZE=address,undefined change how it is built."

# --- building -----------------------------------------------------------------------------------------------

$(BUILD)/weir: $(cli_objects) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries)

# As a Python wheel has them, for machines that have neither Jansson nor zstd: both are linked in where there are archives of
# them; those that are not lie beside the libraries.
packaged = jansson $(if $(zstd),zstd)
needs: # says what is missing, before anything is compiled
	@printf '\043include <jansson.h>\nint main(void) { return !json_null(); }\n' | $(CC) $(CFLAGS) $(LDFLAGS) -xc -o /dev/null - -ljansson 2>/dev/null || { \
		echo "Weir needs a C compiler (CC=$(CC)) and Jansson's headers; Debian: apt install gcc libjansson-dev; Fedora: dnf install gcc jansson-devel" >&2; exit 2; }
package: $(BUILD)/package/weir $(BUILD)/package/$(SONAME) $(BUILD)/package/libweir-gpu.so $(BUILD)/package/libweir-cuda.so $(BUILD)/package/libweir-children.so $(BUILD)/package/beside
$(BUILD)/package/weir: $(cli_objects) $(BUILD)/libweir.a
	@mkdir -p $(@D)
	$(link) -s -Wl,-rpath,'$$ORIGIN/../lib' -o $@ $^ $(foreach name,$(packaged),$(call archive,$(name))) -lm
$(BUILD)/package/$(SONAME): $(library_objects) src/api/exports.map
	@mkdir -p $(@D)
	$(shared) -s -Wl,-rpath,'$$ORIGIN' -o $@ $(library_objects) $(libraries)
$(BUILD)/package/libweir-gpu.so: $(exec_objects) $(BUILD)/libweir.a $(BUILD)/runtime/exports.map
	@mkdir -p $(@D)
	$(preloaded) -s -Wl,-rpath,'$$ORIGIN/../lib' -o $@ $(exec_objects) $(BUILD)/libweir.a $(if $(zstd),$(call archive,zstd)) -lm -ldl
$(BUILD)/package/libweir-cuda.so: $(cuda_objects) $(BUILD)/libweir.a src/cuda/exports.map
	@mkdir -p $(@D)
	$(standing_in) -s -Wl,-rpath,'$$ORIGIN/../lib' -o $@ $(cuda_objects) $(BUILD)/libweir.a $(libraries) -ldl
$(BUILD)/package/libweir-children.so: $(watching) $(BUILD)/libweir.a $(BUILD)/runtime/children.map
	@mkdir -p $(@D)
	$(preloaded) -s -o $@ $(watching) $(BUILD)/libweir.a -ldl
$(BUILD)/package/beside: $(BUILD)/package/$(SONAME)
	rm -f $(@D)/libjansson.so* $(@D)/libzstd.so*
	readelf -d $< | sed -n 's/.*NEEDED.*\[\(lib\(jansson\|zstd\)\.so.*\)\].*/\1/p' | while read -r name; do \
		cp "$$($(CC) -print-file-name=$$name)" $(@D)/; \
	done
	@touch $@

# For machines that have neither this C library nor Jansson.
static: $(BUILD)/weir-static ## build the command as one file that needs no library
$(BUILD)/weir-static: $(cli_objects) $(BUILD)/libweir.a
	$(link) -static -o $@ $^ $(libraries)

$(BUILD)/libweir.a: $(library_objects) $(borrowed)
	@rm -f $@
	$(AR) rcs $@ $^

# A sanitizer's runtime comes with the program, so only the plain library can be checked for missing symbols.
shared = $(link) -shared -Wl,-soname,$(SONAME) $(if $(SANITIZE),,-Wl,-z,defs) -Wl,--version-script=src/api/exports.map
$(BUILD)/$(SONAME): $(library_objects) $(borrowed) src/api/exports.map
	$(shared) -o $@ $(library_objects) $(borrowed) $(libraries)

$(BUILD)/libweir.so: $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $@

# Always optimized, and not there with sanitizers: it runs in programs that have none, and its dlsym must end with a jump. Of
# the library it has what it needs to instrument PTX, and nothing of it is seen from outside; zstd is linked in.
preloaded = $(CC) $(LDFLAGS) -shared -Wl,-z,defs -Wl,--version-script=$(filter %.map,$^) -pthread
$(BUILD)/runtime/exports.map: $(exec_objects)
$(BUILD)/runtime/children.map: $(watching)
$(BUILD)/runtime/exports.map $(BUILD)/runtime/children.map: # lld takes no names that are not there
	@readelf -sW $^ | awk 'BEGIN { print "{ global:" } $$5 ~ /GLOBAL|WEAK/ && $$6 == "DEFAULT" && $$7 != "UND" { print $$8 ";" } END { print "local: *; };" }' > $@
$(BUILD)/libweir-gpu.so: $(exec_objects) $(BUILD)/libweir.a $(BUILD)/runtime/exports.map
	$(preloaded) -o $@ $(exec_objects) $(BUILD)/libweir.a $(if $(zstd),$(call archive,zstd)) -lm -ldl

# What of that stands in front of the C library, for programs in which nothing stands in front of a driver.
$(BUILD)/libweir-children.so: $(watching) $(BUILD)/libweir.a $(BUILD)/runtime/children.map
	$(preloaded) -o $@ $(watching) $(BUILD)/libweir.a -ldl

# `weir exec` gives it the names of CUDA's libraries that programs ask for. It has all of libweir that it needs; nothing of that is seen
# from outside. Without versions of their own its symbols fit those of CUDA 12 and 13.
standing_in = $(link) -shared $(if $(SANITIZE),,-Wl,-z,defs) $(exclude) -Wl,--version-script=src/cuda/exports.map
$(BUILD)/libweir-cuda.so: $(cuda_objects) $(BUILD)/libweir.a src/cuda/exports.map
	$(standing_in) -o $@ $(cuda_objects) $(BUILD)/libweir.a $(libraries) -ldl

$(exec_objects): $(BUILD)/runtime/%.o: src/runtime/%.c $(wildcard src/runtime/*/*.ptx) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c17 -O2 -g1 $(warnings) -D_GNU_SOURCE -pthread -MMD -MP -MF $@.d -fPIC -fvisibility=hidden -Isrc -c -o $@ $<

$(cuda_objects) $(library_objects): visibility = -fPIC -fvisibility=hidden
$(cli_objects) $(cuda_objects) $(library_objects): $(BUILD)/obj/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(compile) $(busy) $(internal) $(visibility) -c -o $@ $<

# Between releases `weir --version` says of which commit it is; in sources without a history it cannot.
commit := $(shell [ -e .git ] && ! git describe --tags --exact-match --match 'v$(VERSION)' >/dev/null 2>&1 && git rev-parse --short=10 HEAD 2>/dev/null)
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(commit)' | cmp -s - $@ || echo '$(commit)' > $@
$(BUILD)/obj/cli/main.o: $(BUILD)/commit
$(BUILD)/obj/cli/main.o: internal = -Isrc -Iinclude -DWEIR_COMMIT='"$(commit)"'

# The assembler puts these into the object.
$(BUILD)/obj/render/html/page.o: src/render/html/page.css src/render/html/page.js src/render/html/code.js \
	src/render/html/lanes.js src/render/html/find.js

# What runs inside of kernels, compiled for them where there is a compiler that can (clang with its target nvptx64); else
# it is empty, and `weir instrument --mode shadow` says so. It is the same for all builds, which can share it.
DEVICE_CC ?= clang
DEVICE ?= $(BUILD)/device
device_flags = --target=nvptx64-nvidia-cuda -Xclang -fconvergent-functions -Xclang -target-feature -Xclang +ptx75 -march=sm_80 -std=c17 -O2 \
	-mllvm -inline-threshold=100000 -ffreestanding -nostdlib -Wall -Wextra -Isrc
$(DEVICE)/%.ptx: src/device/%.c $(wildcard src/device/*.h) src/trace/shadow.h src/engine/shadow/gsan_cell.h
	@mkdir -p $(@D)
	@if $(DEVICE_CC) --print-targets 2>/dev/null | grep -q nvptx64; then \
		echo '$(DEVICE_CC) $(device_flags) -S -o $@ $<'; $(DEVICE_CC) $(device_flags) -S -o $@.$$$$ $< && mv $@.$$$$ $@; \
		else [ -e $@ ] || : > $@; fi
# What is empty for want of that compiler is made again once there is one.
device_again := $(if $(shell command -v $(DEVICE_CC)),$(shell find $(DEVICE) -name '*.ptx' -size 0 2>/dev/null))
ifneq ($(device_again),)
$(device_again): FORCE
endif
device: $(DEVICE)/compact.ptx $(DEVICE)/seed.ptx
$(BUILD)/obj/instrument/emit/shadow_runtime.o: $(DEVICE)/compact.ptx $(DEVICE)/seed.ptx
$(BUILD)/obj/instrument/emit/shadow_runtime.o: visibility = -fPIC -fvisibility=hidden -DDEVICE_FOLDER='"$(DEVICE)"'

# What can be built for another C library without its jansson; all but the programs.
objects: $(cli_objects) $(library_objects)

# Objects depend on this file, which changes only when the flags do: `make CC=clang` rebuilds, `make` does not.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(compile) $(LDFLAGS)' | cmp -s - $@ || echo '$(compile) $(LDFLAGS)' > $@

# --- test programs ------------------------------------------------------------------------------------------

unit-tests: $(unit_tests) $(freestanding)
api-tests: $(api_tests)
fuzz-targets: $(fuzz_targets)
libfuzzer-targets: $(libfuzzer_targets)
bench-programs: $(engine_benches) $(thread_benches)

# All of them are one program, as linking each with the library takes longer than compiling it; it runs the tests of the
# name by which it is called. Only what they test is optimized, and those of them that compare with
# something slow of their own.
$(unit_tests): $(BUILD)/tests/unit/all
	@ln -sf all $@

$(BUILD)/tests/unit/all: $(unit_tests:=.o) $(BUILD)/tests/unit/all.o $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries) -lcmocka

$(unit_tests:=.o): $(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(compile) $(if $(filter %_random_test.o %_model_test.o,$@),,-O0 $(checks_called)) -g1 -Wno-clobbered $(internal) -Dmain=main_of_$(basename $(notdir $<)) -c -o $@ $<

$(BUILD)/tests/unit/all.o: tests/unit/all.c $(BUILD)/tests/unit/all.def $(BUILD)/flags
	$(compile) -O0 -I$(@D) -c -o $@ $<

$(BUILD)/tests/unit/all.def: FORCE
	@mkdir -p $(@D)
	@printf 'UNIT(%s)\n' $(notdir $(unit_tests)) | cmp -s - $@ || printf 'UNIT(%s)\n' $(notdir $(unit_tests)) > $@

# These parts of the engines run on devices, too: no data of their own, no library, and of its functions only those that
# compilers call by themselves, beside those of their own files.
$(freestanding): $(BUILD)/freestanding/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c17 -O2 $(warnings) -ffreestanding -nostdlib -MMD -MP -MF $@.d -Isrc -c -o $@ $<
	@! nm $@ | grep -vE ' [TtRr] | U (mem(set|cpy)|consan_[a-z_]+)$$' || { echo "$<: a device has no such symbols" >&2; exit 1; }

# As a program outside this tree would be built: public header only, shared library.
$(BUILD)/tests/api/%: tests/api/%.c $(BUILD)/libweir.so
	@mkdir -p $(@D)
	$(compile) -Iinclude $(LDFLAGS) -o $@ $< -L$(BUILD) -lweir -Wl,-rpath,$(abspath $(BUILD))

# The fuzz targets read the files they are given, for inputs kept as regression tests; no fuzzer needed. They are one program,
# as the unit tests are.
$(fuzz_targets): $(BUILD)/tests/fuzz/all
	@ln -sf all $@

$(BUILD)/tests/fuzz/all: $(fuzz_targets:=.o) $(BUILD)/tests/fuzz/driver.o $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries)

$(fuzz_targets:=.o): $(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(compile) $(internal) -DLLVMFuzzerTestOneInput=$(basename $(notdir $<)) -c -o $@ $<

$(BUILD)/tests/fuzz/driver.o: tests/fuzz/driver.c $(BUILD)/tests/fuzz/targets.def $(BUILD)/flags
	$(compile) -I$(@D) -c -o $@ $<

$(BUILD)/tests/fuzz/targets.def: FORCE
	@mkdir -p $(@D)
	@printf 'TARGET(%s)\n' $(notdir $(fuzz_targets)) | cmp -s - $@ || printf 'TARGET(%s)\n' $(notdir $(fuzz_targets)) > $@

$(BUILD)/libfuzzer/%: tests/fuzz/%.c $(BUILD)/libweir.a
	@mkdir -p $(@D)
	$(compile) $(internal) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(BUILD)/libweir.a $(libraries)

$(engine_benches): $(BUILD)/tests/bench/%: tests/bench/%.c $(BUILD)/libweir.a
	@mkdir -p $(@D)
	$(compile) $(internal) $(LDFLAGS) -o $@ $< $(BUILD)/libweir.a $(libraries)

$(thread_benches): $(BUILD)/tests/bench/%: tests/bench/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(compile) -fsanitize=thread $(LDFLAGS) -o $@ $<

$(BUILD)/tests/reference/compare: $(reference_objects) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries)

$(BUILD)/tests/reference/ptx/values: $(filter-out %_test.o %/held_interpret.o %/held_run.o %/held_kernels.o,$(ptx_reference_objects)) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries)

ptx_interpreter := $(filter-out %_test.o %/values.o %/claims.o %/launches.o %/generate.o %/held_interpret.o %/held_run.o %/held_kernels.o,$(ptx_reference_objects))
ptx_held := $(patsubst %,$(BUILD)/tests/reference/ptx/%.o,held_test held_interpret held_run held_kernels generate)
$(BUILD)/tests/reference/ptx/held_test: $(ptx_held) $(ptx_interpreter) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries) -lcmocka -lm

$(BUILD)/tests/reference/ptx/interpreter_test $(BUILD)/tests/reference/ptx/recorded_test: %: %.o $(ptx_interpreter) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries) -lcmocka

# It shares no code with what it is held against.
$(BUILD)/tests/reference/litmus/litmus_test: $(litmus_objects)
	$(link) -o $@ $^

$(BUILD)/tests/litmus/machine: $(litmus_machine_objects) $(filter-out %_test.o,$(litmus_objects)) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries) -lm

$(BUILD)/tests/machine/machine: tests/record/walk.c tests/record/walk.h tests/record/cells.c tests/record/cells.h
$(BUILD)/tests/machine/machine $(BUILD)/tests/record/play $(BUILD)/tests/prove_ptx/prove_ptx: $(BUILD)/%: %.c $(BUILD)/libweir.a
	@mkdir -p $(@D)
	$(compile) $(internal) -Itests $(LDFLAGS) -o $@ $(filter %.c,$^) $(BUILD)/libweir.a $(libraries)

$(BUILD)/tests/membar/compare: $(filter-out %_test.o,$(membar_objects)) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries)

$(BUILD)/tests/membar/checker_test: $(filter-out %/compare.o,$(membar_objects)) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries) -lcmocka

$(BUILD)/tests/mutants/mutate: $(mutant_objects) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries)

$(BUILD)/tests/prove/prove: $(prove_objects) $(BUILD)/libweir.a
	$(link) -o $@ $^ $(libraries)

$(reference_objects) $(ptx_reference_objects) $(litmus_objects) $(litmus_machine_objects) $(membar_objects) $(mutant_objects) $(prove_objects): $(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(compile) $(internal) -c -o $@ $<

$(BUILD)/tests/tokens: tests/tokens.c
	@mkdir -p $(@D)
	$(compile) -o $@ $<

$(BUILD)/tests/verdicts: tests/verdicts.c
	@mkdir -p $(@D)
	$(compile) -o $@ $< $(libraries)

# A driver without a device, and a program that uses it.
# Asks for CUDA's library by its name, under which it is here to be linked with.
$(BUILD)/tests/cuda/program $(BUILD)/tests/cuda/fuzz: $(BUILD)/%: %.c tests/exec/fatbin.h src/cuda/runtime.def $(BUILD)/libweir-cuda.so
	@mkdir -p $(@D)
	ln -sf ../../libweir-cuda.so $(@D)/libcudart.so.13
	$(compile) -O1 $(LDFLAGS) -o $@ $< -L$(@D) -l:libcudart.so.13 -ldl

$(BUILD)/tests/cuda/driver $(BUILD)/tests/cuda/nvrtc: $(BUILD)/%: %.c $(BUILD)/libweir-cuda.so
	@mkdir -p $(@D)
	ln -sf ../../libweir-cuda.so $(@D)/libcuda.so.1
	$(compile) -O1 $(LDFLAGS) -o $@ $< -L$(@D) -l:libcuda.so.1 -ldl

$(BUILD)/tests/exec/libcuda.so.1: tests/exec/driver.c
	@mkdir -p $(@D)
	$(CC) -std=c17 -O1 -g $(warnings) -D_GNU_SOURCE -fPIC -shared -Wl,-soname,libcuda.so.1 -o $@ $<

$(BUILD)/tests/exec/program: tests/exec/program.c $(BUILD)/tests/exec/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) -std=c17 -O1 -g $(warnings) -D_GNU_SOURCE -o $@ $^ -ldl

# A driver whose device is the machine of PTX, and a program whose kernels it runs.
$(BUILD)/tests/exec/gpu/libcuda.so.1: tests/exec/gpu.c tests/exec/gpu_images.c tests/exec/gpu_streams.c tests/exec/gpu_copies.c tests/exec/gpu_graphs.c tests/exec/gpu_others.c tests/exec/gpu_peers.c tests/exec/gpu.h $(BUILD)/libweir.a
	@mkdir -p $(@D)
	$(CC) -std=c17 -O1 -g $(warnings) -D_GNU_SOURCE -Isrc -fPIC -fvisibility=hidden -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,--exclude-libs,ALL \
		-pthread -o $@ $(filter %.c,$^) $(BUILD)/libweir.a $(libraries)

$(BUILD)/tests/exec/kernels: tests/exec/kernels.c tests/exec/fatbin.h $(BUILD)/tests/exec/gpu/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) -std=c17 -O1 -g $(warnings) -D_GNU_SOURCE -pthread -o $@ $(filter-out %.h,$^)

$(BUILD)/tests/exec/beside: tests/exec/beside.c tests/exec/fatbin.h $(BUILD)/tests/exec/gpu/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) -std=c17 -O1 -g $(warnings) -D_GNU_SOURCE -pthread -o $@ $(filter-out %.h,$^)

$(BUILD)/tests/exec/peers: tests/exec/peers.c $(BUILD)/tests/exec/gpu/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) -std=c17 -O1 -g $(warnings) -D_GNU_SOURCE -o $@ $^

$(BUILD)/tests/exec/graphs: tests/exec/graphs.c $(BUILD)/tests/exec/gpu/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) -std=c17 -O1 -g $(warnings) -D_GNU_SOURCE -pthread -o $@ $^

$(BUILD)/tests/rates: tests/rates.c $(BUILD)/libweir.a
	@mkdir -p $(@D)
	$(compile) -Iinclude $(LDFLAGS) -o $@ $^ $(libraries)

$(BUILD)/tests/mirror: tests/mirror.c $(BUILD)/libweir.a
	@mkdir -p $(@D)
	$(compile) $(internal) $(LDFLAGS) -o $@ $< $(BUILD)/libweir.a $(libraries)

$(BUILD)/tests/facts: tests/facts.c
	@mkdir -p $(@D)
	$(compile) -o $@ $< $(libraries)

# --- running ------------------------------------------------------------------------------------------------
# Each first looks for the tools it needs (scripts/setup) and installs what is missing.

demo: ## build, and check some of the kernels in examples/
	@scripts/setup demo
	@$(MAKE) --no-print-directory -s all
	@BUILD=$(BUILD) scripts/demo

test: ## run every test
	@CC="$(CC)" scripts/setup test
	@CC="$(CC)" scripts/test

complete: ## run every test, and under the sanitizers all of unit, golden, recordings, reference and threads, of which `make test` takes a share there
	@CC="$(CC)" scripts/setup test
	@CC="$(CC)" COMPLETE=1 scripts/test

global: ## run the kernels of tests/global and examples/global: races in global memory, and grids that hang
	@CC="$(CC)" scripts/setup test
	@CC="$(CC)" scripts/test global

reference: ## compare the emulator with the reference (tests/reference) on 100,000 random barrier programs
	@CC="$(CC)" scripts/setup test
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/reference/compare
	@$(BUILD)/tests/reference/compare --count 100000

litmus: ## hold the evaluator of PTX's memory model, and the machine, against the litmus tests of Dat3M in LITMUS=DIR, a checkout of it
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/reference/litmus/litmus_test $(BUILD)/tests/litmus/machine
	@BUILD=$(BUILD) scripts/oracle/litmus $(LITMUS)

membar: ## place thread barriers in 100,000 random kernels and look for races on every path (tests/membar)
	@CC="$(CC)" scripts/setup test
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/membar/compare
	@$(BUILD)/tests/membar/compare --count 100000

python-venv: ## pip install . into new environments with Triton from TRITON_WHEELS=DIR (or an index), and find a race
	@CC="$(CC)" scripts/python-venv

ptx: ## hold the PTX reader and printer against ptxas; PTX=DIR has more files, TRITON_WHEELS=DIR unpacked wheels
	@$(MAKE) --no-print-directory -s all
	@TRITON_WHEELS="$(TRITON_WHEELS)" scripts/oracle/ptx --build $(BUILD) $(PTX)

ptx-sweep: ## read and print all PTX below PTX=DIR, and let ptxas judge; what it makes is kept in CACHE=DIR
	@test -n "$(PTX)" || { echo "make ptx-sweep needs PTX=DIR, a folder of PTX files" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all
	@scripts/oracle/ptx-sweep $(ARGS) --build $(BUILD) $(if $(CACHE),--cache $(CACHE)) $(PTX)

ptx-mutants: ## change PTX in 37 ways, and print how often Weir and ptxas agree whether it is legal; COUNT=N, SEED=WORD
	@$(MAKE) --no-print-directory -s all
	@scripts/oracle/ptx-mutants --build $(BUILD) --count $(or $(COUNT),3000) --seed $(or $(SEED),weir) --show 20 $(PTX)

device-triton: ## run a sample of Triton's own tests on the CPU; TESTS=DIR is python/test of a checkout, PYTHON has Triton, PyTorch and pytest; TARGET=sm_90, SAMPLE=N (0: all), FILES=
	@test -n "$(TESTS)" || { echo "make device-triton needs TESTS=DIR, the folder python/test of Triton" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all
	@$(or $(PYTHON),python3) scripts/oracle/device-triton $(ARGS) --target $(or $(TARGET),sm_90) --sample $(or $(SAMPLE),300) $(TESTS) $(FILES)

ptx-suites: ## check suites of CUDA kernels with known verdicts; SUITES=DIR has the checkouts, CACHE=DIR keeps PTX, CAPTURED=DIR launches of weir exec
	@test -n "$(SUITES)$(CAPTURED)" || { echo "make ptx-suites needs SUITES=DIR, a folder of checkouts, or CAPTURED=DIR" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all
	@scripts/oracle/ptx-suites $(ARGS) --build $(BUILD) $(if $(CACHE),--cache $(CACHE)) $(if $(CAPTURED),--captured $(CAPTURED)) $(SUITES)

ptx-values: ## run kernels with made-up launches, and hold the value analysis of PTX against every value; PTX=DIR, CHECKS=N, SEED=N, RANDOM=N (kernels)
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/reference/ptx/values
	@$(BUILD)/tests/reference/ptx/values --checks $(or $(CHECKS),10000000) --seed $(or $(SEED),0) --random $(or $(RANDOM),200) $(or $(PTX),tests/ptx/values)

fences: ## hold what is said of proxy fences against the PTX of each Triton below TRITON_WHEELS=DIR (unpacked wheels)
	@test -n "$(TRITON_WHEELS)" || { echo "make fences needs TRITON_WHEELS=DIR, a folder of unpacked wheels" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all
	@TRITON_WHEELS="$(TRITON_WHEELS)" scripts/oracle/fences $(ARGS) --build $(BUILD)

membar-triton: ## hold the thread barriers of kernels against those of Triton's own pass; needs a Triton from 3.9 on for Python
	@$(MAKE) --no-print-directory -s $(BUILD)/weir
	@BUILD=$(BUILD) scripts/oracle/membar-triton $(ARGS)

prove-corpus: ## what is proved for every launch of the kernels below CORPUS=DIR, what is open by reason, and how long it takes; ARGS=--global
	@test -n "$(CORPUS)" || { echo "make prove-corpus needs CORPUS=DIR, a folder of kernels" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/prove/prove
	@BUILD=$(BUILD) scripts/tests/prove corpus "$(CORPUS)" $(ARGS)

prove-certificates: ## check the certificates of proved kernels below CORPUS=DIR, and COUNT with a fault (10000)
	@test -n "$(CORPUS)" || { echo "make prove-certificates needs CORPUS=DIR, a folder of kernels" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/prove/prove
	@BUILD=$(BUILD) scripts/tests/prove certificates "$(CORPUS)" $(or $(COUNT),10000) $(ARGS)

prove-launches: ## run COUNT launches that proofs of the kernels below CORPUS=DIR cover (1000): none may have a finding that they exclude
	@test -n "$(CORPUS)" || { echo "make prove-launches needs CORPUS=DIR, a folder of kernels" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all $(BUILD)/tests/prove/prove
	@BUILD=$(BUILD) scripts/tests/prove launches "$(CORPUS)" $(or $(COUNT),1000) $(ARGS)

prove-mutants: ## change COUNT addresses, program ids, masks, strides and trip counts of proved kernels below CORPUS=DIR (3000), then COUNT waits, phases, slots and bounds, and run those that are still proved
	@test -n "$(CORPUS)" || { echo "make prove-mutants needs CORPUS=DIR, a folder of kernels" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all $(BUILD)/tests/prove/prove
	@BUILD=$(BUILD) scripts/tests/prove mutants "$(CORPUS)" $(or $(COUNT),3000) $(ARGS)
	@BUILD=$(BUILD) scripts/tests/prove trips "$(CORPUS)" $(or $(COUNT),3000) $(ARGS)

prove-oracle: all ## have z3 and isl judge the arithmetic of proofs: of the kernels below CORPUS=DIR, and of COUNT random ones (300); PYTHON has z3-solver and islpy
	@$(or $(PYTHON),python3) scripts/oracle/prove-arithmetic --build $(BUILD) --random $(or $(COUNT),300) $(ARGS) $(CORPUS)

prove-ptx: ## run COUNT launches (1000) that proofs of PTX kernels cover, then change COUNT lines of such kernels, and run those still proved; KERNELS=DIR has more of them
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/prove_ptx/prove_ptx
	@cd $(BUILD)/tests/prove_ptx && ./prove_ptx launches $(or $(COUNT),1000) $(or $(SEED),1) $(PROVE_PTX)
	@cd $(BUILD)/tests/prove_ptx && ./prove_ptx mutants $(or $(COUNT),1000) $(or $(SEED),1) $(PROVE_PTX)

mutants: ## put faults into the clean kernels of CORPUS=DIR, which TRITON_RELEASE compiles; survivors in build/mutants.txt
	@test -n "$(CORPUS)" || { echo "make mutants needs CORPUS=DIR, a folder with expected.tsv" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/mutants/mutate
	@BUILD=$(BUILD) TRITON_RELEASE=$(TRITON_RELEASE) scripts/tests/mutants "$(CORPUS)"

asan: ## run all unit, golden and malformed tests under the address and undefined-behavior sanitizers
	@CC="$(CC)" scripts/setup test
	@CC="$(CC)" COMPLETE=1 scripts/test asan

tsan: ## run the thread test under the thread sanitizer
	@CC="$(CC)" scripts/setup test
	@CC="$(CC)" scripts/test threads

fuzz: ## fuzz for FUZZ_SECONDS (60) altogether
	@scripts/setup fuzz
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/tests/fuzz

bench: ## measure speed and memory, beside mlir-opt; results in build/bench.txt
	@scripts/setup bench
	@$(MAKE) --no-print-directory -s all
	@$(MAKE) --no-print-directory -s bench-programs $(BUILD)/tests/machine/machine $(BUILD)/tests/record/play $(BUILD)/tests/prove/prove $(BUILD)/tests/cuda/program
	@BUILD=$(BUILD) scripts/bench/kernels; status=$$?; BUILD=$(BUILD) scripts/bench/races && BUILD=$(BUILD) scripts/bench/membar && BUILD=$(BUILD) scripts/bench/gsan && BUILD=$(BUILD) scripts/bench/size && BUILD=$(BUILD) scripts/bench/ptx && BUILD=$(BUILD) scripts/bench/machine && BUILD=$(BUILD) scripts/bench/launches && BUILD=$(BUILD) scripts/bench/cuda && BUILD=$(BUILD) scripts/bench/proofs && BUILD=$(BUILD) scripts/bench/device && BUILD=$(BUILD) scripts/bench/record && exit $$status

gsan-rates: ## measure how often the sampled mode finds races in global memory, against the formula
	@$(MAKE) --no-print-directory -s $(BUILD)/tests/rates
	@BUILD=$(BUILD) scripts/tests/gsan-rates

corpus: ## read, print, compare and run every kernel below CORPUS=DIR
	@test -n "$(CORPUS)" || { echo "make corpus needs CORPUS=DIR, a folder of .ttgir and .mlir files" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all $(BUILD)/tests/tokens $(BUILD)/tests/verdicts $(BUILD)/tests/facts
	@BUILD=$(BUILD) scripts/tests/corpus "$(CORPUS)"

found: ## check the kernels below FOUND=DIR, on which Weir was once wrong, against tests/found/expected.tsv
	@test -n "$(FOUND)" || { echo "make found needs FOUND=DIR, a folder of kernels that tests/found/expected.tsv names" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all
	@BUILD=$(BUILD) scripts/tests/found "$(FOUND)"

gpu-programs: ## compile the programs of tests/gpu/programs.tsv, whose sources are below CHECKOUTS=DIR, into WORK=DIR, with the command; run them where there is a GPU, and print the table
	@test -n "$(CHECKOUTS)" -a -n "$(WORK)" || { echo "make gpu-programs needs CHECKOUTS=DIR, with cuda-samples, HeCBench, llm.c and SGEMM_CUDA in it, and WORK=DIR" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all static
	@scripts/gpu/programs build --checkouts "$(CHECKOUTS)" "$(WORK)"
	@cp $(BUILD)/weir-static "$(WORK)/weir" && cp $(BUILD)/libweir-gpu.so "$(WORK)/"
	@if nvidia-smi >/dev/null 2>&1; then scripts/gpu/programs run "$(WORK)" && scripts/gpu/programs table "$(WORK)"; else echo "no GPU here: run 'python3 $(WORK)/programs.py run $(WORK)' where there is one, then 'scripts/gpu/programs table $(WORK)'"; fi

no-gpu-programs: ## compile the programs of tests/gpu/no-gpu.tsv and no-gpu-faults.tsv, whose sources are below CHECKOUTS=DIR, into WORK=DIR; run those that WORK/plain has the output of a GPU of, without one, and print the tables
	@test -n "$(CHECKOUTS)" -a -n "$(WORK)" || { echo "make no-gpu-programs needs CHECKOUTS=DIR, with cuda-samples and HeCBench in it, and WORK=DIR" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all
	@scripts/gpu/programs build --no-gpu --checkouts "$(CHECKOUTS)" "$(WORK)"
	@scripts/gpu/programs build --no-gpu --faults --checkouts "$(CHECKOUTS)" "$(WORK)/faults"
	@test -d "$(WORK)/plain" || { echo "run 'python3 $(WORK)/programs.py run --no-gpu --plain $(WORK)' where there is a GPU, then this again" >&2; exit 1; }
	@scripts/gpu/programs run --no-gpu --weir $(abspath $(BUILD))/weir "$(WORK)"
	@scripts/gpu/programs run --no-gpu --faults --weir $(abspath $(BUILD))/weir "$(WORK)/faults"
	@scripts/gpu/programs table --no-gpu "$(WORK)" && scripts/gpu/programs table --no-gpu --faults "$(WORK)/faults"

mutation: ## break the sources one token at a time, outside the tree, and list the mutants that no test notices; OPTIONS="..." (scripts/tests/mutation --help)
	@scripts/setup test
	@scripts/tests/mutation --whole $(OPTIONS)

ops: ## hold the ops of each release of Triton against the table; WHEELS=DIR has RELEASE/triton, unpacked wheels
	@test -n "$(WHEELS)" || { echo "make ops needs WHEELS=DIR, with a folder for each release, its wheel unpacked" >&2; exit 2; }
	@$(MAKE) --no-print-directory -s all
	@scripts/oracle/ops --build $(BUILD) "$(WHEELS)"

docs: ## make the pages of docs/, the man pages and completions that are made from tables
	@$(MAKE) --no-print-directory -s all
	@scripts/docs/pages --build $(BUILD)

site: ## make a web site of the documentation, in build/site, with MkDocs
	@scripts/setup site
	@$(MAKE) --no-print-directory -s all
	@BUILD=$(BUILD) scripts/docs/site

format: ## lay out the C sources with clang-format
	clang-format -i $(wildcard src/*/*.[ch] src/*/*/*.[ch] src/*/*/*/*.[ch] include/weir/*.h tests/*.c tests/*/*.[ch] tests/reference/ptx/*.[ch] tests/reference/litmus/*.[ch])

tidy: ## look over the C sources with clang-tidy
	clang-tidy --quiet $(sources) -- -std=c17 -D_GNU_SOURCE $(internal)

# --- scripts with arguments of their own -----------------------------------------------------------------------
# make NAME ARGS="..."; the first lines of each script say what it takes.

house: ## walk the includes of src/: floors, rooms, circles; ARGS=--rooms lists them
	@BUILD=$(BUILD) scripts/tests/house $(ARGS)

op-ids: ## count where src/ knows ops by their ids; ARGS=--list
	@BUILD=$(BUILD) scripts/tests/op-ids $(ARGS)

words: ## grep for words that users are not to read; ARGS=FILE...
	@BUILD=$(BUILD) scripts/tests/words $(ARGS)

lines: ## count lines of code
	@BUILD=$(BUILD) scripts/tests/lines $(ARGS)

links: ## check the links between the pages
	@BUILD=$(BUILD) scripts/docs/links $(ARGS)

golden: all $(BUILD)/tests/mutants/mutate $(BUILD)/tests/record/play ## run the golden tests; ARGS="--update NAME" writes what comes out as what is expected
	@BUILD=$(BUILD) scripts/tests/golden --build $(BUILD) $(ARGS)

malformed: all ## run the tests of wrong input; ARGS="--update NAME"
	@BUILD=$(BUILD) scripts/tests/malformed --build $(BUILD) $(ARGS)

kernels: ## make the kernels that are kept as templates; ARGS="tests/global build/tests/global"
	@BUILD=$(BUILD) scripts/tests/kernels $(ARGS)

causes: all $(BUILD)/tests/mutants/mutate ## whether reports begin with the true cause; ARGS=--show
	@BUILD=$(BUILD) scripts/tests/causes --build $(BUILD) $(ARGS)

lint-mutants: all ## put faults of fences and descriptors into kernels; ARGS="[--only FAMILY,...] DIR..."
	@BUILD=$(BUILD) scripts/tests/lint-mutants $(ARGS)

bench-compare: ## compare two builds of the command; ARGS="[--instructions] OLD NEW [CORPUS]"
	@BUILD=$(BUILD) scripts/bench/compare $(ARGS)

bench-device: all ## measure the device without a GPU beside Triton's interpreter; TORCH_PYTHONS=PATH has both; part of make bench
	@BUILD=$(BUILD) scripts/bench/device $(ARGS)

bench-cuda: all $(BUILD)/tests/cuda/program ## what a launch of a CUDA program costs without a GPU; part of make bench
	@BUILD=$(BUILD) scripts/bench/cuda

bench-launches: all ## measure launches on a device without a GPU; part of make bench
	@BUILD=$(BUILD) scripts/bench/launches $(ARGS)

bench-gsan: all bench-programs ## measure the engine for global memory; part of make bench
	@BUILD=$(BUILD) scripts/bench/gsan $(ARGS)

bench-machine: all $(BUILD)/tests/machine/machine ## measure the machine of PTX; part of make bench
	@BUILD=$(BUILD) scripts/bench/machine $(ARGS)

bench-membar: all ## measure weir membar; part of make bench
	@BUILD=$(BUILD) scripts/bench/membar $(ARGS)

bench-proofs: all $(BUILD)/tests/prove/prove ## measure proofs for every launch, and asking launches; CORPUS=DIR; part of make bench
	@BUILD=$(BUILD) CORPUS=$(CORPUS) scripts/bench/proofs

bench-ptx: all ## measure the reader of PTX; part of make bench
	@BUILD=$(BUILD) scripts/bench/ptx $(ARGS)

bench-races: all bench-programs ## measure the engine for shared memory; part of make bench
	@BUILD=$(BUILD) scripts/bench/races $(ARGS)

bench-record: all $(BUILD)/tests/record/play ## measure how fast recordings are checked; part of make bench
	@BUILD=$(BUILD) scripts/bench/record $(ARGS)

bench-size: all ## measure what grows with the launch and with the kernel; part of make bench
	@BUILD=$(BUILD) scripts/bench/size $(ARGS)

launch-cost: all ## measure what a launch that was seen before costs; needs Triton
	@BUILD=$(BUILD) scripts/bench/launch-cost $(ARGS)

shards: all ## measure many files in one process and in shards; ARGS="FILES SHARDS"
	@BUILD=$(BUILD) scripts/bench/shards $(ARGS)

exec-tutorials: all ## run Triton scripts with and without capture; ARGS=SCRIPT...
	@BUILD=$(BUILD) scripts/gpu/exec-tutorials $(ARGS)

gpu-bench: all static ## what recording costs on a GPU; ARGS="prepare|table|cuda ... WORK"
	@BUILD=$(BUILD) scripts/gpu/bench $(ARGS)

gpu-examples: all ## the kernels of examples/ on a GPU; ARGS="prepare|check|table ... WORK"
	@BUILD=$(BUILD) scripts/gpu/examples $(ARGS)

gpu-hangs: all static ## kernels that do not end, on a GPU; ARGS="prepare|cpu|check ... WORK"
	@BUILD=$(BUILD) scripts/gpu/hangs $(ARGS)

gpu-images: all ## what a program sees of its own kernels on a GPU; ARGS="build WORK"
	@BUILD=$(BUILD) scripts/gpu/images $(ARGS)

gpu-shadow: all ## what kernels that check themselves cost on a GPU; ARGS="prepare|table ... WORK"
	@BUILD=$(BUILD) scripts/gpu/shadow $(ARGS)

membar-checks: all ## hold thread barriers against the checks of other projects' tests; ARGS=FILE...
	@BUILD=$(BUILD) scripts/oracle/membar-checks $(ARGS)

ptx-agree: all ## hold the two front ends against each other; ARGS="--wheel DIR --work DIR FILE.ttgir..."
	@BUILD=$(BUILD) scripts/oracle/ptx-agree $(ARGS)

# --- installing ---------------------------------------------------------------------------------------------

bin = $(DESTDIR)$(PREFIX)/bin
lib = $(DESTDIR)$(LIBDIR)
header = $(DESTDIR)$(PREFIX)/include/weir
manual = $(DESTDIR)$(PREFIX)/share/man/man1
python = $(DESTDIR)$(PREFIX)/share/weir/python/weir
bash_completion = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zsh_completion = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fish_completion = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

install: all ## install below PREFIX (/usr/local), itself below DESTDIR
	@test -n "$(VERSION)" || { echo "include/weir/weir.h defines no WEIR_VERSION" >&2; exit 1; }
	install -d $(bin) $(lib)/pkgconfig $(header) $(manual) $(bash_completion) $(zsh_completion) $(fish_completion) \
		$(python)/boot
	install -m 755 $(BUILD)/weir $(bin)/weir
	install -m 644 $(BUILD)/libweir.a $(lib)/libweir.a
	install -m 755 $(BUILD)/$(SONAME) $(lib)/libweir.so.$(VERSION)
	ln -sf libweir.so.$(VERSION) $(lib)/$(SONAME)
	ln -sf $(SONAME) $(lib)/libweir.so
	install -d $(DESTDIR)$(PREFIX)/lib/weir
	install -m 755 $(BUILD)/libweir-gpu.so $(DESTDIR)$(PREFIX)/lib/weir/libweir-gpu.so
	install -m 755 $(BUILD)/libweir-cuda.so $(DESTDIR)$(PREFIX)/lib/weir/libweir-cuda.so
	install -m 755 $(BUILD)/libweir-children.so $(DESTDIR)$(PREFIX)/lib/weir/libweir-children.so
	install -m 644 include/weir/*.h $(header)/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@ZSTD@|$(if $(zstd), -lzstd)|' weir.pc.in \
		> $(lib)/pkgconfig/weir.pc
	install -m 644 man/*.1 $(manual)
	install -m 644 completions/weir.bash $(bash_completion)/weir
	install -m 644 completions/_weir $(zsh_completion)/_weir
	install -m 644 completions/weir.fish $(fish_completion)/weir.fish
	install -m 644 python/weir/*.py python/weir/py.typed $(python)
	install -m 644 python/weir/boot/*.py $(python)/boot
	install -d $(DESTDIR)$(PREFIX)/share/weir/cmake
	install -m 644 packaging/cmake/Weir.cmake $(DESTDIR)$(PREFIX)/share/weir/cmake/Weir.cmake

newcomer: ## go through the quick starts, from nothing to a verdict, and print the seconds of each step; ARGS="triton cuda c"
	@BUILD=$(BUILD) scripts/newcomer $(ARGS)

validators: ## check man pages, scripts, SARIF, HTML, packages and Python by tools of others, those that are installed; ARGS="man shell"
	@$(MAKE) --no-print-directory -s all
	@scripts/tests/validators --build $(BUILD) $(ARGS)

release: ## look whether VERSION=X.Y.Z is ready, check it, make what is handed out, and tag it; DRY=1 only looks
	@BUILD=$(BUILD) scripts/release $(if $(DRY),--dry-run) $(VERSION)

wheels: ## make Python wheels for manylinux, of x86_64 and aarch64 (ARGS=x86_64 for one), in $(BUILD)/wheels
	@BUILD=$(BUILD) packaging/wheels $(ARGS)

deb: ## make Debian packages in $(BUILD): weir, libweir0, libweir-dev
	@$(MAKE) --no-print-directory -s all
	+@BUILD=$(BUILD) CC="$(CC)" packaging/deb

uninstall: ## remove what install put there
	rm -rf $(DESTDIR)$(PREFIX)/lib/weir
	rm -f $(bin)/weir $(lib)/libweir.a $(lib)/libweir.so $(lib)/libweir.so.* $(lib)/pkgconfig/weir.pc \
		$(patsubst include/weir/%,$(header)/%,$(wildcard include/weir/*.h)) $(patsubst man/%,$(manual)/%,$(wildcard man/*.1)) $(bash_completion)/weir \
		$(zsh_completion)/_weir $(fish_completion)/weir.fish
	rm -rf $(DESTDIR)$(PREFIX)/share/weir/python $(DESTDIR)$(PREFIX)/share/weir/cmake
	-rmdir $(header) $(DESTDIR)$(PREFIX)/share/weir 2>/dev/null

clean: ## remove everything made
	rm -rf $(BUILD)

-include $(addsuffix .d,$(cli_objects) $(cuda_objects) $(exec_objects) $(library_objects) $(unit_tests:=.o) $(BUILD)/tests/unit/all.o $(api_tests) $(fuzz_targets:=.o) \
	$(libfuzzer_targets) $(reference_objects) $(ptx_reference_objects) $(litmus_objects) $(litmus_machine_objects) $(membar_objects) $(mutant_objects) $(prove_objects) $(BUILD)/tests/fuzz/driver.o \
	$(BUILD)/tests/tokens $(BUILD)/tests/verdicts $(BUILD)/tests/facts $(BUILD)/tests/rates \
	$(BUILD)/tests/mirror)
