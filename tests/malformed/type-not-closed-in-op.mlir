tt.func @f(%p: !tt.ptr<f32>) {
  %0 = tt.load %p : !tt.ptr<f32
  %1 = tt.load %p : !tt.ptr<f32>
  tt.return
}
