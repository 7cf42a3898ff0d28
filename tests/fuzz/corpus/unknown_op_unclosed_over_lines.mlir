module{tt.func@m(){my.op(
 t
}}
