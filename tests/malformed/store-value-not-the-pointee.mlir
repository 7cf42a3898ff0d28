tt.func @f(%p: !tt.ptr<f32>, %v: f16) {
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}
