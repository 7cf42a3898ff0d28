"op"() : () -> !ttg.memdesc<4xf16, // [
 #ttg.s>
