"""REST under /api, a file per noun: parse, call one function, answer."""
