"""Functions and methods made from the operators' records, and operators written in Python."""
