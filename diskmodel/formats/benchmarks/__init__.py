"""Results of load generators other than fio, in the form of fio's jobs."""
