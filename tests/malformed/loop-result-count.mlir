tt.func @f(%n: i32, %a: f32) -> f32 {
  %c = arith.constant 1 : i32
  %r:2 = scf.for %i = %c to %n step %c iter_args(%x = %a) -> (f32) : i32 {
    scf.yield %x : f32
  }
  tt.return %r#1 : f32
}
