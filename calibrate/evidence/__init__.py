"""Evidence about a drive: measurements, results of fio, request traces."""
