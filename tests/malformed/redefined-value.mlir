tt.func @add(%a: i32) {
  %x = arith.addi %a, %a : i32
  %x = arith.muli %a, %a : i32
  tt.return
}
