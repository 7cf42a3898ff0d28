#b = #triton_gpu.blocked<{sizePerThread = [1]}>
module attributes {"triton_gpu.num-warps" = 4 : i32} {
  tt.func public @f(%x: tensor<4xf16, #b>, %d: !tt.ptr<i8, 0>, %i: i32) {
    %0 = triton_gpu.local_alloc %x : (tensor<4xf16, #b>) -> !tt.memdesc<4xf16, #triton_gpu.shared<{}>, #triton_gpu.shared_memory>
    %1 = triton_gpu.local_load %0 : !tt.memdesc<4xf16, #triton_gpu.shared<{}>, #triton_gpu.shared_memory> -> tensor<4xf16, #b>
    %2 = tt.experimental_descriptor_load %d[%i] : !tt.ptr<i8, 0> -> tensor<4xf16, #b>
    triton_nvidia_gpu.fence_async_shared {bCluster = false}
    tt.return
  }
}
