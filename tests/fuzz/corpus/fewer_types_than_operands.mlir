tt.func @f(%x: f32) {
  %r = llvm.intr.fabs(%x) : () -> f32
  tt.return
}
