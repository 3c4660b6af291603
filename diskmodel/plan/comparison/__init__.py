"""Arrays side by side: under one workload, under a growing load, by cost, and level against level."""
