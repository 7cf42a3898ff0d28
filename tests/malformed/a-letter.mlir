This is not MLIR at all.
It is a letter.

Yours, A
