// Structured control flow, with and without results, results in parentheses or not.
tt.func @loops(%n: i32, %m: index, %c: i1, %x: f32, %t: tensor<4xf32>) -> f32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  scf.for %i = %i0 to %m step %i1 {
    tt.print " i: " {hex = false, isSigned = array<i32: 1>} : %i : index
  }
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> (f32) : i32 {
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  } {tt.num_stages = 3 : i32}
  %two:2 = scf.for %i = %zero to %n step %one iter_args(%p = %sum, %q = %t) -> (f32, tensor<4xf32>) : i32 {
    scf.yield %p, %q : f32, tensor<4xf32>
  }
  scf.if %c {
    scf.if %c {
    } else {
      tt.assert %c, "cannot be" : i1
    }
  }
  %pick = scf.if %c -> (f32) {
    scf.yield %sum : f32
  } else {
    scf.yield %two#0 : f32
  } {hint = "taken"}
  %count = scf.while (%k = %zero) : (i32) -> i32 {
    %less = arith.cmpi slt, %k, %n : i32
    scf.condition(%less) %k : i32
  } do {
  ^bb0(%k: i32):
    %more = arith.addi %k, %one : i32
    scf.yield %more : i32
  }
  %chosen = scf.index_switch %m -> f32
  case 0 {
    scf.yield %sum : f32
  }
  case 4 {
    scf.yield %pick : f32
  }
  default {
    scf.yield %x : f32
  }
  %inner = scf.execute_region -> f32 {
    cf.cond_br %c, ^yes, ^no
  ^yes:
    scf.yield %chosen : f32
  ^no:
    scf.yield %sum : f32
  }
  tt.return %inner : f32
}
