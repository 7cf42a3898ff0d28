#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @f(%bar: !ttg.memdesc<1xi64, #shared, #ttg.shared_memory, mutable>, %phase: i1) {
  ttng.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #shared, #ttg.shared_memory, mutable>
  tt.return
}
