// After an error the reader goes on at the next op, and what the bad op defines counts as defined.
module {
  tt.func @first(%a: i32) -> i32 {
    %0 = arith.addi %a, %missing : i32
    %1 = arith.muli %0, %a : tensor<4xi3z>
    %2 = arith.subi %1, %0 : i32
    tt.return %2 : i32
  }
  tt.func @second(%p: !tt.ptr<f32>) {
    %0 = tt.load %p : !tt.ptr<f32>
    %0 = tt.load %p : !tt.ptr<f32>
    tt.store %p, %nothing : !tt.ptr<f32>
    tt.return
  }
  tt.func @third(%a: tensor<4xfp8>) {
    tt.return
  }
}
