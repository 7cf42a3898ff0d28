// A tensor whose rows run backwards.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !tt.ptr<f16> {tt.divisibility = 128 : i32}, %cols: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %one = arith.constant 1 : i64
    %stride = arith.constant -1024 : i64
    %rows = arith.constant 64 : i32
    %skip = arith.constant 0 : i32
    %base = tt.addptr %in, %skip : !tt.ptr<f16>, i32
    %desc = tt.make_tensor_descriptor %base, [%rows, %cols], [%stride, %one] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16, #rows>
    %value = tt.descriptor_load %desc[%c0, %c0] : !tt.tensordesc<64x64xf16, #rows> -> tensor<64x64xf16>
    tt.return
  }
}
