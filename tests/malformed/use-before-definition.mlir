tt.func @add(%a: i32) -> i32 {
  %x = arith.addi %y, %a : i32
  %y = arith.muli %a, %a : i32
  tt.return %x : i32
}
