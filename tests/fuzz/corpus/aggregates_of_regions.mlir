%r = "outer"() ({
  "inner"() ({
  ^entry(%a: i32, %b: i32):
    "br"(%a)[^entry, ^next] : (i32) -> ()
  ^next:
    "end"() : () -> ()
  }) : () -> ()
}, {}) {k = {l = [{m}]}} : () -> i32 loc("r")
