"""What is asked: a workload, an objective, and the arrays that may be bought."""
