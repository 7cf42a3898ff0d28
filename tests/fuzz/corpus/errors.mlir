module {
  tt.func @f(%x: i32) {
    %0 = arith.addi %x, %undefined : i32
    %x = arith.addi %x, %x : i32
    %1 = arith.addf %x, %x : f32
    tt.return %0 : 
  }
  tt.func @f() {
  ^bb0:
  ^bb0:
    cf.br ^nowhere
  }
}}
#unused = #undefined
"open string
