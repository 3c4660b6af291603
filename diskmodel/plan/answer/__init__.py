"""What was found: outcomes, criteria, candidates, and the answers made of them."""
