module attributes {ttg.shared = 32 : i32 ttg.target = "cuda:90"} {
}
