"""The speed rows of the bars: `python -m bench` (`make bench`)."""
