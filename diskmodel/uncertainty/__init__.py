"""What a prediction depends on and nobody knows exactly: each unknown, its spread, and how a draw is simulated."""
