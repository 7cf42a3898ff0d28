tt.func @f() {
}
