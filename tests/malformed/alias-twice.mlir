#loc = loc("kernel.py":1:0)
#loc = loc("kernel.py":2:0)
module {
} loc(#loc)
