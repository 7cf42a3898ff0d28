// In the generic form nothing makes an op have its regions, its blocks or the ends of its blocks.
module {
  tt.func @loop_without_region(%n: i32) {
    %0 = "scf.for"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> i32
    "scf.for"(%n, %0, %n) ({
    }) : (i32, i32, i32) -> ()
    tt.return
  }
  tt.func @while_without_condition(%n: i32, %c: i1) {
    %0 = "scf.while"(%n) : (i32) -> i32
    %1 = "scf.while"(%n) ({
    ^bb0(%a: i32):
      "scf.yield"(%a) : (i32) -> ()
    }, {
    ^bb0(%a: i32):
      "scf.yield"(%a) : (i32) -> ()
    }) : (i32) -> i32
    %2 = "scf.if"(%c) : (i1) -> i32
    "scf.for"(%0, %1, %2) ({
    ^bb0(%i: i32):
      "scf.yield"() : () -> ()
    ^bb1(%k: i32):
      "scf.yield"() : () -> ()
    }) : (i32, i32, i32) -> ()
    tt.return
  }
  tt.func @others_without_region(%c: i1) {
    "ttg.mask"(%c) : (i1) -> ()
    "scf.execute_region"() : () -> ()
    "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 4>}> : () -> ()
    "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 4>}> ({
      "ttg.warp_yield"() : () -> ()
    }, {
      "ttg.warp_yield"() : () -> ()
    }) : () -> ()
    "nvws.warp_group"() <{numWarps = array<i32: 4>}> : () -> ()
    tt.return
  }
}
