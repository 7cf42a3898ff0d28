tt.func @f(%a: i32) {
  tt.return
  %0 = arith.addi %a, %a : i32
}
