"""The gate: whether a human has to decide, told by code alone, in front of every answer that is not a human's. Pure.

Everything that is asked and offered is looked at, and the answer that is proposed: prose by verb and object, commands
parsed as shell. It can only make things stricter.
"""
