tt.func @f(%x: i32, %y: !tt.ptr<f32>) {
  %0 = ttg.warp_specialize(%x, %y) attributes {requestedRegisters = array<i32: 24>}
  default {
    ttg.warp_yield %x : i32
  }
  partition0(%a: i32, %b: !tt.ptr<f32>) num_warps(4) {
    ttg.warp_return
  }
  partition1(%a: i32 loc("a"), %b: !tt.ptr<f32>) num_warps(1) {
    %1 = arith.addi %a, %a : i32
    ttg.warp_return
  } : (i32, !tt.ptr<f32>) -> i32
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  } : () -> ()
  %2 = nvws.warp_group
  partition0  num_warps(4) {
    nvws.warp_group.yield %x : i32
  }
  partition1  num_warps(2) {
    nvws.warp_group.return
  }
  tt.return
}
