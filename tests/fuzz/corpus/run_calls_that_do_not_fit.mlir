// A call with fewer results than are returned, one with fewer operands than arguments, a function that calls itself
// twice, and branches that hand over less than their block takes.
module {
  tt.func private @three(%a: i32, %b: i32) -> (i32, i32, i32) {
    tt.return %a, %b, %a : i32, i32, i32
  }
  tt.func private @again(%a: i32) -> i32 {
    %0 = tt.call @again(%a) : (i32) -> i32
    %1 = tt.call @again(%0) : (i32) -> i32
    tt.return %1 : i32
  }
  tt.func @kernel(%n: i32, %c: i1) {
    %0 = "tt.call"(%n) <{callee = @three}> : (i32) -> i32
    %1 = tt.call @again(%n) : (i32) -> i32
    scf.for %i = %0 to %1 step %n : i32 {
    }
    "cf.cond_br"(%c, %n)[^bb1, ^bb2] : (i1, i32) -> ()
  ^bb1(%a: i32):
    "cf.br"()[^bb2] : () -> ()
  ^bb2(%b: i32, %d: i32):
    scf.for %i = %b to %d step %n : i32 {
    }
    tt.return
  }
}
