tt.func @results(%t: tensor<?xf32>, %p: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %n = other.dim %t, %c0 : tensor<?xf32>
  %m = arith.addi %n, %c0 : index
  %v = tt.load %p, volatile : !tt.ptr<f32>
  %w = arith.addf %v, %v : f32
  %x = other.extract %t[%n] : tensor<?xf32>
  %y = arith.addf %w, %x : f32
  tt.return
}
