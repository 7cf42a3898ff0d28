!t = tensor<4xi32, #enc>
!u = !t
#enc = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#slice = #ttg.slice<{dim = 0, parent = #enc}>
#map = affine_map<(d0, d1) -> (d0 + d1)>
tt.func @f(%x: !u, %y: tensor<4xi32, #enc>) -> !t {
  %0 = arith.addi %x, %y : !t
  tt.return %0 : tensor<4xi32, #enc>
}
