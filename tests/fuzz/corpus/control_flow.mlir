tt.func @f(%c: i1, %n: index, %x: i32) -> i32 {
  %0 = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %x : i32
  } {tag}
  scf.if %c {
  }
  %1:2 = scf.for %i = %n to %n step %n iter_args(%a = %x, %b = %0) -> (i32, i32) {
    scf.yield %b, %a : i32, i32
  } {tt.num_stages = 3 : i32}
  scf.for unsigned %j = %x to %x step %x  : i32 {
  }
  %2 = scf.while (%a = %x) : (i32) -> i32 {
    scf.condition(%c) %a : i32
  } do {
  ^bb0(%a: i32):
    scf.yield %a : i32
  } attributes {w}
  %3 = scf.index_switch %n -> i32
  case 2 {
    scf.yield %x : i32
  }
  default {
    scf.yield %2 : i32
  }
  %4 = scf.execute_region -> i32 {
    scf.yield %1#1 : i32
  }
  tt.return %3 : i32
}
