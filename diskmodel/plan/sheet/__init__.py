"""The answer of a plan of one kind as lines of text, and on paper."""
