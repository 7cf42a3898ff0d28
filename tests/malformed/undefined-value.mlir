tt.func @add(%a: i32) -> i32 {
  %sum = arith.addi %a, %b : i32
  tt.return %sum : i32
}
