tt.func @f(%a: i32, %b: i64) {
  %x = arith.addi %a, %b : i32
  tt.return
}
