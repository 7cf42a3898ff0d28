/* The op table's formats: each op is written as a release of Triton prints it, reads without a note, and is printed
 * back to the byte; its generic form reads again. Another spelling of an op is another line here.
 *
 * What docs/op-table.md calls a directive occurs in at least one line, and so does each format of a row that has more
 * than one: the last tests see to it. */
#include "ir/op_ids.h"
#include "reading.h"

/* What the ops below work on: the arguments of the function around them. */
static const char before[] = "!acc = !ttg.memdesc<4x4xf32, #tmem, #ttng.tensor_memory, mutable>\n"
                             "!bar = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
                             "!mem = !ttg.memdesc<4x4xf16, #shared, #smem, mutable>\n"
                             "!ring = !nvws.aref<[!mem]>\n"
                             "!desc = !tt.tensordesc<4x4xf16>\n"
                             "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
                             "#smem = #ttg.shared_memory\n"
                             "#tmem = #ttng.tensor_memory_encoding<blockM = 4, blockN = 4, colStride = 1>\n"
                             "tt.func @f(%i: i32, %h: i16, %l: i64, %n: index, %c: i1, %x: f32, %p: !tt.ptr<f32>, "
                             "%q: tensor<4x!tt.ptr<f16>>, %mask: tensor<4xi1>, %o: tensor<4xi32>, %v: tensor<4xf16>, "
                             "%w: tensor<4xf32>, %a: tensor<4x4xf16>, %s: tensor<4x2xi8>, %d: tensor<4x4xf32>, "
                             "%bar: !bar, %mem: !mem, %acc: !acc, %ring: !ring, %desc: !desc, %t: !ttg.async.token, "
                             "%ptr: !llvm.ptr, %stride: i16, %records: i64, %g: tensor<2x!nvws.token>) {\n  ";
static const char after[] = "\n  tt.return\n}\n";

/* clang-format off: one spelling a row */
static const struct {
    const char *release; /* or fork that writes it so; "" for the newest */
    const char *op;
} spellings[] = {
    /* ---- Operands, attributes, types ---- */
    {"", "%0 = arith.addi %i, %i : i32"},
    {"", "%0 = arith.addi %i, %i overflow<nsw, nuw> {tag = 1 : i32} : i32"},
    {"", "%0 = arith.divsi %i, %i exact : i32"},
    {"", "%0 = arith.addf %x, %x fastmath<fast> : f32"},
    {"", "%0 = arith.cmpi slt, %i, %i : i32"},
    {"", "%0 = arith.constant 1 : i32"},
    {"", "%0 = arith.constant {tag} dense<0.000000e+00> : tensor<4xf32>"},
    {"", "%true = arith.constant true"},
    {"", "%0 = arith.select %c, %i, %i : i32"},
    {"", "%0 = arith.select %mask, %w, %w : tensor<4xi1>, tensor<4xf32>"},
    {"", "%0 = arith.truncf %x to_nearest_even : f32 to f16"},
    {"", "%0 = arith.truncf %x : f32 to f16"},
    {"", "%0:2 = arith.mulsi_extended %i, %i : i32"},
    {"", "%sum, %overflow = arith.addui_extended %i, %i : i32, i1"},
    {"", "%0 = math.fma %x, %x, %x fastmath<contract> : f32"},
    {"", "%0 = ub.poison : i32"},
    {"", "%0 = ub.poison<1 : i32> : i32"},
    {"", "%0 = builtin.unrealized_conversion_cast %i : i32 to f32"},
    {"", "%0 = builtin.unrealized_conversion_cast to f32"},
    {"", "%0:2 = unrealized_conversion_cast %i, %x : i32, f32 to f32, i32 {tag}"},
    {"", "tt.assert %c, \"not so\" : i1"},
    {"", "%0 = tt.get_program_id x : i32"},
    {"", "%0 = tt.clampf %x, %x, %x, propagateNan = all : f32"},
    {"", "%0 = llvm.icmp \"slt\" %i, %i : i32"},
    {"", "%0 = amdg.register_resident %w class \"vgpr\" groups 2 : tensor<4xf32>"},

    /* ---- All operands, all types, signatures ---- */
    {"", "%0 = llvm.select %c, %i, %i : i1, i32"},
    {"", "%0 = llvm.intr.fma(%x, %x, %x) : (f32, f32, f32) -> f32"},
    {"", "ttng.mbarrier_arrive %bar, %c {trackAsyncOp = false} : !bar, i1"},
    {"", "nvgpu.stmatrix %ptr, %i, %i : !llvm.ptr, i32, i32"},
    {"", "%0 = tt.call @g(%i, %x) : (i32, f32) -> i32"},
    {"", "tt.call @g() : () -> ()"},
    {"", "%0:2 = func.call @g(%i) {tag} : (i32) -> (i32, f32)"},
    {"", "%0 = ttg.local_alloc : () -> !mem"},
    {"", "%0 = ttg.local_alloc %a {alignment = 16 : i32} : (tensor<4x4xf16>) -> !mem"},
    {"", "%0 = tt.extern_elementwise %w {libname = \"\", libpath = \"\", pure = true, symbol = \"f\"} : "
         "(tensor<4xf32>) -> tensor<4xf32>"},
    {"", "%0, %token = ttng.tmem_alloc : () -> (!acc, !ttg.async.token)"},
    {"", "%0 = ttng.tmem_alloc %d : (tensor<4x4xf32>) -> !acc"},

    /* ---- Optional parts, repetitions, clauses in any order ---- */
    {"", "%0 = tt.load %q : tensor<4x!tt.ptr<f16>>"},
    {"", "%0 = tt.load %q, %mask : tensor<4x!tt.ptr<f16>>"},
    {"", "%0 = tt.load %q, %mask, %v : tensor<4x!tt.ptr<f16>>"},
    {"", "%0 = tt.load %q, %mask, %v cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : "
         "tensor<4x!tt.ptr<f16>>"},
    {"", "%0 = tt.load %q evictionPolicy = evict_first cacheModifier = cg : tensor<4x!tt.ptr<f16>>"},
    {"Triton's tests", "%0 = tt.load %q, : tensor<4x!tt.ptr<f16>>"},
    {"", "tt.store %q, %v, %mask evictionPolicy = evict_first : tensor<4x!tt.ptr<f16>>"},
    {"", "tt.print \"x: \" {hex = false, isSigned = array<i32: 1>} : %i : i32"},
    {"", "tt.print \"here\" {hex = false, isSigned = array<i32>}"},
    {"", "%0 = amdg.update_tensor_descriptor %desc pred = %i add_offsets = [%i, %i] : !desc"},
    {"", "amdg.memory_counter_wait load(1) ds(0)"},
    {"", "amdg.memory_counter_wait"},
    {"", "ttng.async_tma_store_token_wait %t, %bar[%c], %bar[%c] nvws_token %g[%i] : !ttg.async.token, !bar, "
         "!bar, tensor<2x!nvws.token>"},
    {"", "ttng.async_tma_store_token_wait %t : !ttg.async.token"},
    {"", "proton.record start \"name\""},
    {"", "proton.record end \"name\""},
    {"up to 3.4", "proton.record() {isStart = true, regionId = 1 : i32}"},
    {"", "%0 = tlx.storage_alias_spec storage = smem, size = 1024 : !tlx.storage_alias_spec<smem, 1024>"},
    {"", "llvm.inline_asm has_side_effects asm_dialect = att \"bar.sync 0;\", \"\" : () -> ()"},
    {"", "%0 = llvm.load volatile %ptr atomic syncscope(\"agent\") acquire {alignment = 4 : i64} : !llvm.ptr -> "
         "i32"},
    {"", "ttg.barrier local|global_read"},
    {"", "ttg.barrier all"},

    /* ---- Spaces and lines ---- */
    {"", "%0 = tt.descriptor_load %desc[%i, %i] : !desc -> tensor<4x4xf16>"},
    {"", "%0 = ttg.memdesc_index %mem[%i] : !mem -> !mem"},
    {"", "%0 = ttg.memdesc_subslice %mem[0, 2] : !mem -> !mem"},
    {"", "%0 = amdg.extract_slice %w [0] : tensor<4xf32> to tensor<2xf32>"},
    {"", "%0 = llvm.mlir.undef : !llvm.struct<(i32, f32)>\n"
         "  %1 = llvm.insertvalue %i, %0[0] : !llvm.struct<(i32, f32)>"},
    {"", "%0 = tt.make_tensor_descriptor %p, [%i, %i], [%l, %l] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>"},
    {"", "%0 = llvm.getelementptr inbounds %ptr[0, %i, 3] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<4 x i8>"},

    /* ---- Types without their names ---- */
    {"", "%0 = ttg.local_load %mem : <4x4xf16, #shared, #smem, mutable> -> tensor<4x4xf16>"},
    {"", "%0 = ttg.memdesc_trans %mem {order = array<i32: 1, 0>} : <4x4xf16, #shared, #smem, mutable> -> "
         "<4x4xf16, #shared, #smem, mutable>"},
    {"", "ttng.wait_barrier %bar, %i : <1xi64, #shared, #smem, mutable>"},
    {"", "%0:2 = nvws.aref.put.enter %ring[%i, %i] : <[!mem]> -> !mem, !ttg.async.token"},

    /* ---- Regions ---- */
    {"", "scf.if %c {\n"
         "  }"},
    {"", "%0 = scf.if %c -> (i32) {\n"
         "    scf.yield %i : i32\n"
         "  } else {\n"
         "    scf.yield %i : i32\n"
         "  } {tag}"},
    {"", "%0 = scf.if %c -> i32 {\n"
         "    scf.yield %i : i32\n"
         "  } else {\n"
         "    scf.yield %i : i32\n"
         "  }"},
    {"", "scf.for %k = %n to %n step %n {\n"
         "  }"},
    {"", "%0:2 = scf.for %k = %i to %i step %i iter_args(%y = %x, %z = %i) -> (f32, i32)  : i32 {\n"
         "    scf.yield %y, %z : f32, i32\n"
         "  } {tt.num_stages = 3 : i32}"},
    {"", "scf.for unsigned %k = %i to %i step %i  : i32 {\n"
         "  }"},
    {"", "%0 = scf.while (%y = %i) : (i32) -> f32 {\n"
         "    scf.condition(%c) %x : f32\n"
         "  } do {\n"
         "  ^bb0(%z: f32):\n"
         "    scf.yield %i : i32\n"
         "  } attributes {tag}"},
    {"", "scf.while : () -> () {\n"
         "    scf.condition(%c)\n"
         "  } do {\n"
         "    scf.yield\n"
         "  }"},
    {"", "%0 = scf.index_switch %n -> i32\n"
         "  case 2 {\n"
         "    scf.yield %i : i32\n"
         "  }\n"
         "  case -5 {\n"
         "    scf.yield %i : i32\n"
         "  }\n"
         "  default {\n"
         "    scf.yield %i : i32\n"
         "  }"},
    {"", "%0 = scf.execute_region -> i32 no_inline {\n"
         "    scf.yield %i : i32\n"
         "  }"},
    {"", "cf.cond_br %c, ^bb1(%i, %x : i32, f32), ^bb2\n"
         "^bb1(%y: i32, %z: f32):\n"
         "  cf.br ^bb2\n"
         "^bb2:"},
    {"", "cf.cond_br %c weights([3, 1]), ^bb1, ^bb1\n"
         "^bb1:"},
    {"", "cf.switch %i : i32, [default: ^bb1(%x : f32),\n"
         "    42: ^bb1(%x : f32),\n"
         "    -1: ^bb2\n"
         "  ]\n"
         "^bb1(%y: f32):\n"
         "  cf.br ^bb2\n"
         "^bb2:"},
    {"", "llvm.switch %i : i32, ^bb1 [\n"
         "    42: ^bb1,\n"
         "    43: ^bb2(%i : i32)\n"
         "  ]\n"
         "^bb1:\n"
         "  llvm.return\n"
         "^bb2(%y: i32):"},
    {"", "%0 = \"tt.reduce\"(%w) <{axis = 0 : i32}> ({\n"
         "  ^bb0(%y: f32, %z: f32):\n"
         "    %1 = arith.addf %y, %z : f32\n"
         "    tt.reduce.return %1 : f32\n"
         "  }) : (tensor<4xf32>) -> f32"},
    {"", "%0 = ttg.warp_specialize(%i, %mem) attributes {requestedRegisters = array<i32: 24, 24>}\n"
         "  default {\n"
         "    ttg.warp_yield %i : i32\n"
         "  }\n"
         "  partition0(%y: i32, %z: !mem) num_warps(4) {\n"
         "    ttg.warp_return\n"
         "  }\n"
         "  partition1(%y: i32 loc(\"y\"), %z: !mem) num_warps(1) {\n"
         "    ttg.warp_return\n"
         "  } : (i32, !mem) -> i32"},
    {"", "ttg.warp_specialize()\n"
         "  default {\n"
         "    ttg.warp_yield\n"
         "  } : () -> ()"},
    {"", "%0 = nvws.warp_group\n"
         "  partition0 num_warps(4) {\n"
         "    nvws.warp_group.yield %i : i32\n"
         "  }\n"
         "  partition1 num_warps(8) {\n"
         "    nvws.warp_group.return\n"
         "  }"},
    {"", "%0 = ttng.subtiled_region per_tile(%i, %i : i32, i32) shared(%x : f32) {numTiles = 2 : i32} tile(%y: "
         "i32, %z: f32) {\n"
         "    ttng.subtiled_region_yield %z : f32\n"
         "  } -> (f32)"},
    {"", "ttng.subtiled_region {numTiles = 1 : i32} tile {\n"
         "    ttng.subtiled_region_yield\n"
         "  }"},
    {"", "module @inner attributes {tag} {\n"
         "    llvm.mlir.global internal constant @text(\"hello\\00\") {addr_space = 0 : i32}\n"
         "    llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x "
         "i8>\n"
         "    llvm.mlir.global private @made() : i32 {\n"
         "      %0 = llvm.mlir.constant(1 : i32) : i32\n"
         "      llvm.return %0 : i32\n"
         "    }\n"
         "    llvm.func internal @g(%y: i32) -> i32 attributes {tag} {\n"
         "      llvm.return %y : i32\n"
         "    }\n"
         "    tt.func private @h(i32 {x.y}) -> (i32, f32)\n"
         "  }"},

    /* ---- One op, several releases ---- */
    {"", "%0 = tt.fp_to_fp %w : tensor<4xf32> -> tensor<4xf16>"},
    {"", "%0 = tt.fp_to_fp %w, rounding = rtne : tensor<4xf32> -> tensor<4xf16>"},
    {"", "%0 = tt.fp_to_fp %w {tag}, rounding = rtne : tensor<4xf32> -> tensor<4xf16>"},
    {"Meta", "%0 = tt.fp_to_fp %w, rbits = %o : tensor<4xi32>, rounding = rs {tag} : tensor<4xf32> -> "
             "tensor<4xf16>"},
    {"", "%0 = tt.dot %a, %a, %d, inputPrecision = tf32 : tensor<4x4xf16> * tensor<4x4xf16> -> tensor<4x4xf32>"},
    {"", "%0 = tt.dot_scaled %a scale %s, %a scale %s, %d lhs = e4m3 rhs = e5m2 {fastMath = false} : "
         "tensor<4x4xf16>, tensor<4x2xi8> * tensor<4x4xf16>, tensor<4x2xi8> -> tensor<4x4xf32>"},
    {"", "%0 = tt.dot_scaled %a, %a, %d lhs = bf16 rhs = fp16 : tensor<4x4xf16> * tensor<4x4xf16> -> "
         "tensor<4x4xf32>"},
    {"3.2", "%0 = tt.dot_scaled %a, %s, %a, %s, %d lhs = e4m3 rhs = e5m2 : tensor<4x4xf16>, tensor<4x2xi8> * "
            "tensor<4x4xf16>, tensor<4x2xi8> -> tensor<4x4xf32>"},
    {"3.2", "%0 = tt.dot_scaled %a, %s, %a, %d lhs = e2m1 rhs = e5m2 : tensor<4x4xf16>, tensor<4x2xi8> * "
            "tensor<4x4xf16> -> tensor<4x4xf32>"},
    {"3.2", "tt.experimental_descriptor_store %p[%i], %w : !tt.ptr<f32>, tensor<4xf32>"},
    {"", "%0 = ttg.async_copy_global_to_local %q, %mem mask %mask other %v evictionPolicy = evict_last : "
         "tensor<4x!tt.ptr<f16>> -> !mem"},
    {"3.2", "%0 = triton_gpu.async_copy_global_to_local %q, %mem : tensor<4x!tt.ptr<f16>> -> !mem"},
    {"", "%0 = ttg.async_commit_group tokens %t, %t"},
    {"", "%0 = ttg.async_commit_group"},
    {"up to 3.4", "%0 = ttg.async_commit_group %t"},
    {"", "ttng.wait_barrier %bar, %i, %c deps %mem, %mem {tag} : !bar, !mem, !mem"},
    {"", "ttng.wait_barrier %bar, %i deps %mem : !bar, !mem"},
    {"Meta", "ttng.wait_barrier %bar, %i {tag}, %c : !bar"},
    {"3.2", "triton_nvidia_gpu.wait_barrier %bar, %i : !bar"},
    {"", "%0 = ttng.tc_gen5_mma %mem, %mem, %acc[%t], %c, %c, %bar[%c], %bar[%c] {is_async} : !mem, !mem, !acc, "
         "!bar, !bar"},
    {"", "%0 = ttng.tc_gen5_mma %mem, %mem, %acc[], %c, %c : !mem, !mem, !acc"},
    {"", "ttng.tc_gen5_mma %mem, %mem, %acc, %c, %c : !mem, !mem, !acc"},
    {"3.3", "ttng.tc_gen5_mma %mem, %mem, %acc, %c, %c, %bar : (!mem, !mem, !acc, i1, i1, !bar) -> ()"},
    {"", "ttng.tc_gen5_mma_scaled %mem, %mem, %acc, %mem, %mem, %c, %c lhs = e4m3 rhs = e2m1, %bar[%c] : !mem, "
         "!mem, !acc, !mem, !mem, !bar"},
    {"3.3", "ttng.tc_gen5_mma_scaled %mem, %mem, %acc, %mem, %mem, %c, %c lhs = e4m3 rhs = e2m1 : (!mem, !mem, "
            "!acc, !mem, !mem, i1, i1) -> ()"},
    {"", "%0, %1 = ttng.tmem_load %acc[%t] : !acc -> tensor<4x4xf32>"},
    {"", "%0 = ttng.tmem_load %acc : !acc -> tensor<4x4xf32>"},
    {"", "ttng.tmem_store %d, %acc, %c : tensor<4x4xf32> -> !acc"},
    {"", "%0 = ttng.tmem_store %d, %acc[], %c : tensor<4x4xf32> -> !acc"},
    {"", "ttng.tmem_copy %mem, %acc, %bar : !mem, !acc, !bar"},
    {"", "ttng.tmem_copy %mem, %acc : !mem, !acc"},
    {"up to 3.4", "ttng.tmem_copy %mem, %acc, : (!mem, !acc) -> ()"},
    {"", "ttng.async_tma_copy_global_to_local %desc[%i, %i] %mem, %bar, %c : !desc, !bar -> !mem"},
    {"", "ttng.async_tma_copy_global_to_local %desc[%i] offsets = [%h] %mem, %bar, %c cacheModifier = ca "
         "tensorMode = im2col : !desc, !bar -> !mem"},
    {"Meta", "ttng.async_tma_copy_global_to_local %desc[%i, %i] %mem, %bar, %c, %i {multicast} : !desc, !bar -> "
             "!mem"},
    {"", "%0 = ttng.async_tma_copy_local_to_global %desc[%i, %i] %mem : !desc, !mem -> !ttg.async.token"},
    {"", "ttng.async_tma_copy_local_to_global %desc[%i, %i] %mem : !desc, !mem"},
    {"", "nvws.aref.put.exit %ring[%i], %t [#nvws.async_op<none>] : !ring, !ttg.async.token"},
    {"3.4", "nvws.aref.put.exit %ring[%i] : !ring"},
    {"", "nvws.aref.get.exit %ring, %t [#nvws.async_op<tc5mma>] : !ring, !ttg.async.token"},
    {"3.4", "nvws.aref.get.exit %ring[%i] : !ring"},
    {"", "%0 = amdg.buffer_load %p[%o] : !tt.ptr<f32> -> tensor<4xf32>"},
    {"up to 3.7", "%0 = amdg.buffer_load %p[%o], %mask, %w cacheModifier = ca stride = %i : tensor<4xf32>"},
    {"up to 3.5", "%0 = amdgpu.buffer_load %p[%o] : tensor<4xf32>"},
    {"", "amdg.buffer_store %w, %p[%o], %mask : !tt.ptr<f32> -> tensor<4xf32>"},
    {"up to 3.7", "amdg.buffer_store %w, %p[%o] stride = %i : tensor<4xf32>"},
    {"", "%0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %w, %p[%o], %mask : !tt.ptr<f32> -> tensor<4xf32>"},
    {"up to 3.7", "%0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %w, %p[%o] : tensor<4xf32>"},
    {"", "%0 = amdg.buffer_atomic_cas acq_rel, gpu, %w, %w, %p[%o] : !tt.ptr<f32> -> tensor<4xf32>"},
    {"up to 3.7", "%0 = amdg.buffer_atomic_cas acq_rel, gpu, %w, %w, %p[%o] stride = %i : tensor<4xf32>"},
    {"", "%0 = amdg.async_tdm_copy_global_to_local %desc into %mem, barrier = %bar : !desc, !bar -> !mem"},
    {"up to 3.7", "%0 = amdg.async_tdm_copy_global_to_local %desc[%i, %i] into %mem, %c : !desc -> !mem"},
    {"up to 3.7", "amdg.async_tdm_copy_local_to_global %desc[%i, %i] from %mem : !mem -> !desc"},
    {"", "%0 = amdg.async_tdm_copy_local_to_global %desc from %mem : !mem -> !desc"},
    {"", "%0 = rocdl.make.buffer.rsrc %ptr, %stride, %records, %i : !llvm.ptr to <8>"},
    {"an older MLIR", "%0 = rocdl.make.buffer.rsrc %ptr, %stride, %i, %i : !llvm.ptr to <8>"},
    {"", "rocdl.sched.barrier 0"},
    {"a newer MLIR", "rocdl.sched.barrier none"},
    {"a newer MLIR", "rocdl.sched.barrier non_mem_non_sideeffect"},
    {"", "gpu.printf \"%d\", %i : i32"},
    {"an older MLIR", "gpu.printf \"%d\" %i : i32"},
    {"", "llvm.intr.assume %c : i1"},
    {"", "llvm.intr.assume %c {tag} : i1"},
    {"", "%0 = nvgpu.ldmatrix %ptr, m8n8, 16 : (!llvm.ptr) -> i32"},
    {"up to 3.3", "%0 = nvgpu.ldmatrix %ptr {trans} : (!llvm.ptr) -> i32"},
    {"", "tti.experimental_gsan_init true"},
    {"", "tti.experimental_gsan_init"},
};
/* clang-format on */

enum { COUNT = sizeof spellings / sizeof *spellings };

static char *around(const char *spelling) {
    Text text = {0};
    text_addf(&text, "%s%s%s", before, spelling, after);
    text_char(&text, 0);
    return text.data;
}

/* ---- Each line above --------------------------------------------------------------------------- */

/* Says what is wrong with a line, and that something is. */
static bool is_wrong(unsigned i, Reading *reading, const char *found, const char *expected) {
    if (reading->ok && reading->diagnostics.notes == 0 && strcmp(found, expected) == 0)
        return false;
    print_error("---- %s (%s)\n", spellings[i].op, *spellings[i].release ? spellings[i].release : "now");
    for (size_t k = 0; k < reading->diagnostics.count; k++)
        print_error("%s\n%s", reading->diagnostics.items[k].message, reading->diagnostics.items[k].excerpt);
    if (strcmp(found, expected) != 0)
        print_error("printed:\n%s\n", strstr(found, "%g: ") ? strstr(found, "%g: ") : found);
    return true;
}

static void each_spelling_is_printed_back(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        char *text = around(spellings[i].op);
        Reading *reading = read_text(text);
        char *found = printed(reading, PRINT_AS_WRITTEN);
        wrong += is_wrong(i, reading, found, text);
        free(found);
        free(text);
        done(reading);
    }
    assert_int_equal(wrong, 0);
}

static void each_generic_form_reads_again(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        char *text = around(spellings[i].op);
        Reading *reading = read_text(text);
        char *generic = printed(reading, PRINT_GENERIC);
        done(reading);
        reading = read_text(generic);
        char *again = printed(reading, PRINT_GENERIC);
        wrong += is_wrong(i, reading, again, generic);
        free(again);
        free(generic);
        free(text);
        done(reading);
    }
    assert_int_equal(wrong, 0);
}

/* ---- All of them together ---------------------------------------------------------------------- */

/* Which formats the ops above were read in. */
static bool used[OP_COUNT][8];

static void find_used_formats(void) {
    for (unsigned i = 0; i < COUNT; i++) {
        char *text = around(spellings[i].op);
        Reading *reading = read_text(text);
        for (const Item *item = reading->module.first; item; item = item->next)
            for (Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op))
                if (op->form == FORM_PRETTY && !op->implicit)
                    used[op->row->id][op->format] = true;
        free(text);
        done(reading);
    }
}

static void every_directive_occurs(void **state) {
    (void)state;
    static const char *const directives[] = {
        [ELEMENT_LITERAL] = "literal",
        [ELEMENT_SPACE] = "_",
        [ELEMENT_LINE] = "/",
        [ELEMENT_OPERAND] = "$operand",
        [ELEMENT_ATTR] = "$attribute",
        [ELEMENT_TYPE] = "type($x)",
        [ELEMENT_OPERANDS] = "operands",
        [ELEMENT_OPERAND_TYPES] = "type(operands)",
        [ELEMENT_RESULT_TYPES] = "type(results)",
        [ELEMENT_SIGNATURE] = "signature",
        [ELEMENT_DICT] = "attr-dict",
        [ELEMENT_ATTRIBUTES] = "attributes",
        [ELEMENT_PRESENT] = "+x",
        [ELEMENT_OPTIONAL] = "(? ?)",
        [ELEMENT_REPEAT] = "(* *)",
        [ELEMENT_ANY_ORDER] = "{* *}",
        [ELEMENT_CLAUSE] = "|",
        [ELEMENT_REGION] = "region",
        [ELEMENT_ARGS] = "args",
        [ELEMENT_MIXED] = "mixed",
        [ELEMENT_BIND] = "bind",
        [ELEMENT_ASSIGN] = "assign",
        [ELEMENT_SUCCESSOR] = "succ",
        [ELEMENT_BRANCHES] = "branches",
        [ELEMENT_FUNCTION] = "function",
        [ELEMENT_PARTITIONS] = "partitions",
        [ELEMENT_GROUPS] = "groups",
        [ELEMENT_CASES] = "cases",
    };
    bool seen[sizeof directives / sizeof *directives] = {0};
    find_used_formats();
    for (int id = 0; id < OP_COUNT; id++) {
        const OpRow *row = op_row_by_id((OpId)id);
        for (unsigned i = 0; i < row->format_count; i++)
            for (unsigned k = 0; used[id][i] && k < row->formats[i].count; k++)
                seen[row->formats[i].elements[k].kind] = true;
    }
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (!seen[i])
            fail_msg("no line has the directive %s", directives[i]);
}

static void every_other_spelling_occurs(void **state) {
    (void)state;
    find_used_formats();
    for (int id = 0; id < OP_COUNT; id++) {
        const OpRow *row = op_row_by_id((OpId)id);
        for (unsigned i = 0; row->format_count > 1 && i < row->format_count; i++)
            if (!used[id][i])
                fail_msg("no line has %.*s as %s", STR_ARG(row->name), row->format_column[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_spelling_is_printed_back),
        cmocka_unit_test(each_generic_form_reads_again),
        cmocka_unit_test(every_directive_occurs),
        cmocka_unit_test(every_other_spelling_occurs),
    };
    return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
