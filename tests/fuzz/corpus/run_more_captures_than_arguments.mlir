// Captures go to the first registers of a partition, which must have as many.
module {
  tt.func @kernel(%n: i32) {
    "ttg.warp_specialize"(%n, %n, %n, %n) <{partitionNumWarps = array<i32: 4>}> ({
      "ttg.warp_yield"() : () -> ()
    }, {
      "ttg.warp_specialize.partitions"() ({
      ^bb0(%a: i32):
        %0 = "arith.constant"() <{value = 0 : i32}> : () -> i32
        "scf.for"(%0, %a, %a) ({
        ^bb0(%i: i32):
          "scf.yield"() : () -> ()
        }) : (i32, i32, i32) -> ()
        "ttg.warp_return"() : () -> ()
      }) : () -> ()
    }) : (i32, i32, i32, i32) -> ()
    tt.return
  }
}
