"""What is there before the library is loaded: names, imports, the process and its errors."""
