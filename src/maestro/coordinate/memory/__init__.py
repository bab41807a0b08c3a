"""What a coordinator keeps when its context is emptied, and is told again afterwards."""
