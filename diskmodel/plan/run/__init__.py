"""Answering a question: all families searched, the best chosen, and what would change the answer."""
