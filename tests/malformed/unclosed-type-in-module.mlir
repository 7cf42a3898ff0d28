module {
  tt.func @f(%a: tensor<128xf32) {
    %0 = arith.addf %a, %a : tensor<128xf32>
    tt.return
  }
  tt.func @g(%a: i32) {
    %0 = arith.addi %a, %b : i32
    tt.return
  }
}
