tt.func @f(%c: i1, %a: i32) {
  scf.if %c {
    %a = arith.addi %a, %a : i32
  }
  tt.return
}
