tt.func @add(%a: i32, %b: i32) {
  %b = arith.addi %a, %a : i32
  tt.return
}
