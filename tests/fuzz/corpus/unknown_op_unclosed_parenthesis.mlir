module{tt.func@e{}(
}}
