module attributes {ttg.target = } {
}
