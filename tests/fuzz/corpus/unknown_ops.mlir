tt.func @f(%a: i32, %p: !tt.ptr<f32>) {
  %0 = my.op %a, [%a, %p] {k = 1 : i32} : (i32, !tt.ptr<f32>) -> tensor<4xf32> loc("x")
  %1:2 = my.pair %0 : tensor<4xf32> -> i32, f32
  my.region %a { %2 = arith.addi %a, %1#0 : i32
    my.yield %2 : i32 }
  my.loop (%i = %a) : i32 {
    my.inner %i
  }
  %3 = arith.addi %1#0, %a wrong : i32
  my.continues %a,
      %a : i32
  tt.return
}
