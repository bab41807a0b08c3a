"""The command line: a file per noun. Parse, make one request, render."""
