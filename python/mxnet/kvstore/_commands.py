"""Numbers of the commands that workers send to servers (``src/kvstore/dist/server.h`` knows some of
them)."""

__all__ = ["GET_STATES", "GET_STEP", "SET_LEARNING_RATE", "SET_OPTIMIZER", "SET_STATES"]

SET_OPTIMIZER, SET_LEARNING_RATE, GET_STATES, SET_STATES, GET_STEP = range(5)
