tt.func @pick(%c: i1, %a: i32) -> i32 {
  scf.if %c {
    %twice = arith.addi %a, %a : i32
  }
  tt.return %twice : i32
}
