module attributes {= 4 : i32} {
}
