tt.func @f() {
  "cf.br"()[exit] : () -> ()
}
