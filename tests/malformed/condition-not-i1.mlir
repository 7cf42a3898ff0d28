tt.func @f(%c: i32, %a: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    %0 = arith.addi %a, %a : i32
    scf.yield %0 : i32
  } else {
    scf.yield %a : i32
  }
  tt.return %r : i32
}
