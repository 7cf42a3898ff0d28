tt.func @f(%a: i32) {
  %0 = "arith.addi"(%a, %a) : (i64, i64) -> i64
  tt.return
}
