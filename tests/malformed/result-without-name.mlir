tt.func @f(%a: i32) {
  % = arith.addi %a, %a : i32
  tt.return
}
