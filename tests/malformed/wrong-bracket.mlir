#blocked = #ttg.blocked<{sizePerThread = [1, 4}, threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @f(%a: tensor<4x4xf32, #blocked>) {
  tt.return
}
