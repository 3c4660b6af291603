"""How well a drive predicts what was measured and not fitted."""
