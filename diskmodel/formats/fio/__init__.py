"""fio: job files, results as JSON, terse and normal text, latency logs."""
