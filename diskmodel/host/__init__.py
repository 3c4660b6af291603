"""The host between a workload and the array's controller: processor time of requests, read-ahead and page cache."""
