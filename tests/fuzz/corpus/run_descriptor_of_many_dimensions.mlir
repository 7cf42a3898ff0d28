// A descriptor's sizes and strides come behind it under its name: here more of them than a descriptor has.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @kernel(%d: !tt.tensordesc<tensor<64xf16, #shared>>, %d_0: i64, %d_1: i64, %d_2: i64, %d_3: i64, %d_4: i64,
                  %d_5: i64, %d_6: i64, %d_7: i64, %d_8: i64, %d_9: i64, %d_10: i64, %d_11: i64, %d_12: i64, %d_13: i64,
                  %d_14: i64, %d_15: i64, %d_16: i64, %d_17: i64, %d_18: i64, %d_19: i64, %d_20: i64, %d_21: i64) {
    %c1 = arith.constant 1 : i64
    scf.for %i = %c1 to %d_0 step %c1 : i64 {
      scf.for %k = %i to %d_21 step %d_18 : i64 {
      }
    }
    tt.return
  }
}
