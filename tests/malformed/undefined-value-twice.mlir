// Both uses are wrong; it is one mistake.
tt.func @add(%a: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.muli %0, %b : i32
  tt.return %1 : i32
}
