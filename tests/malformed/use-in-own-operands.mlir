tt.func @add(%a: i32) -> i32 {
  %x = arith.addi %x, %a : i32
  tt.return %x : i32
}
