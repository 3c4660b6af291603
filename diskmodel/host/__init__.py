"""The host between a workload and the array's controller: what a request costs it, and what it reads ahead."""
