tt.func @f(%a: i32) {
  %x, %y = arith.addi %a, %a : i32
  tt.return
}
