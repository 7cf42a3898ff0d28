module @named attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", flag, unit = unit} {
}
builtin.module {
}
