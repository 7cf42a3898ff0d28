tt.func @regions(%n: index, %m: index) {
  other.for %i = 0 to 10 {
    %0 = arith.addi %i, %n : index
  }
  other.forall (%j, %k) in (%n, %m) {
    %0 = arith.addi %j, %k : index
  }
  other.launch blocks(%b) in (%g = %n) threads(%t) in (%s = %m) {
    %0 = arith.addi %b, %t : index
    other.end
  }
  other.graph {
    %0 = "use"(%1) : (i32) -> i32
    %1 = "use"(%0) : (i32) -> i32
  }
  "other.graph"() ({
    %0 = "use"(%1) : (i32) -> i32
    %1 = "use"(%0) : (i32) -> i32
  }) : () -> ()
  tt.return
}
