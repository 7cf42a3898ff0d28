tt.func public @kernel(%a: i32 {tt.divisibility = 16 : i32} loc("a"), %b: !tt.ptr<f32>) attributes {noinline = false} {
  tt.return
}
tt.func private @declared(i32, f32 {x.y}) -> (i32 {x.z = 1 : i8}, f32)
tt.func private @named(%x: i32) -> i32
func.func @one() -> i32 {
  %0 = arith.constant 1 : i32
  return %0 : i32
}
llvm.func @printf(!llvm.ptr, ...) -> i32
llvm.func internal @f(%x: i64) attributes {passthrough = ["nounwind"]} {
  llvm.return
}
