"op"() : () -> !ttg.memdesc<4xf16, // not an alias: #foo "
  #ttg.s>
