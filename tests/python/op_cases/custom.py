"""Custom operators have tests of their own."""

COVERED_ELSEWHERE = {name: "test_custom_operators.py" for name in ("Custom", "_Native", "_NDArray")}
CASES = []
