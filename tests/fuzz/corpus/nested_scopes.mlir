module @outer {
  module @inner {
    tt.func @f(%x: i32) {
      tt.return
    }
  }
  tt.func @f(%x: i32) {
    %0 = arith.addi %x, %x : i32
    "region"() ({
      %1 = arith.addi %0, %x : i32
      "end"(%1) : (i32) -> ()
    }, {
      %1 = arith.subi %0, %x : i32
    }) : () -> ()
    tt.return
  }
}
