#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%m: !ttg.memdesc<1xi64 #shared, #ttg.shared_memory>) {
  tt.return
}
