tt.func @f(%x: tensor<4xf32>, %i: i32) {
  %0:2 = tt.elementwise_inline_asm "{ mov.b32 $0, $2; }" {constraints = "=r,=r,r", packed_element = 1 : i32, pure = true} %x : tensor<4xf32> -> tensor<4xi32>, tensor<4xi32>
  tt.print "x: " {hex = false, isSigned = array<i32: 1>} : %0#0 : tensor<4xi32>
  tt.print "none" {hex = false, isSigned = array<i32>}
  tt.assert %x, "must \22hold\22" : tensor<4xf32>
  %1 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_expf"} : (tensor<4xf32>) -> tensor<4xf32>
  tt.return
}
