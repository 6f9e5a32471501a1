"""Operators that hold graphs: a call by name cannot give them one."""
COVERED_ELSEWHERE = {op: "test_control_flow.py" for op in ("_foreach", "_npx_foreach", "_while_loop", "_cond")}
CASES = []
