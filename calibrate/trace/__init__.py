"""From the request trace of a real disk to a physical model of it."""
