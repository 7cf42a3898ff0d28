"o^bb0p"() : () -> !0tg.memdesc<4xf16, // [
 #ttg.s>
