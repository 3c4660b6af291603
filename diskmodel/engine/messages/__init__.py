"""What a result says beside its figures: of what a run does not show, and of what limits it."""
