"""The machine and the library's variables, as commands of the package and mx.util show them."""
