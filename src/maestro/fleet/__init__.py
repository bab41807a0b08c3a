"""tmux panes that agents work in: their state, who looks at them, who is engaged with them."""
