"""A volume of a cloud or a storage network: limits with bursts before a latency."""
