!m = !ttg.memdesc<1x4xf16, #ttg.s, #ttg.shared_memory, mutable>
tt.func @f(%b: !m, %i: i32) {
  %0 = nvws.aref.create %b : !nvws.aref<[!m]>
  %1, %t = nvws.aref.put.enter %0[%i, %i] : <[!m]> -> !m, !ttg.async.token
  nvws.aref.put.exit %0[%i], %t [#nvws.async_op<none>] : <[!m]>, !ttg.async.token
  tt.return
}
