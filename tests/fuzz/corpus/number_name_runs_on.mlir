tt.func @f(%p: tensor<4x!tt.ptr<f16>>, %m: tensor<4xi1>, %o: tensor<4xf16>, %d: !ttg.memdesc<4xf16, #ttg.s, #ttg.m, mutable>) {
  %0 = ttg.async_copy_global_to_local %p, %d mask %m other %o evictionPolicy = evict_last {contiguity = 4 : i32} : tensor<4x!tt.ptr<f16>> -> <4xf16, #ttg.s, #ttg.m, mutable>
  %1 = ttg.async_commit_group tokens %0
  %2 = ttg.async_commit_gsoup
  %3 = ttg.async_wait %1, %2ttg.async_copy_global_to_local {num = 0 : i32}
  %4 = ttg.local_load %d token %3 : !ttg.memdesc<4xf16, #ttg.s, #ttg.m, mutable> -> tensor<4xf16>
  tt.return
}
