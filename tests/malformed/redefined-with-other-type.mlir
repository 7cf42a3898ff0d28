tt.func @f(%a: i32, %b: f32) -> f32 {
  %x = arith.addi %a, %a : i32
  %x = arith.addf %b, %b : f32
  tt.return %x : f32
}
