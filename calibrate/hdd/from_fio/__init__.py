"""A hard disk, alone or inside an array, from rates and percentiles over queue depths.

`conditions` is what was measured, `measured_array` predicts it by the engine with any drive inside, `mechanics` fits
seeks and the order of commands to the reads, `writes` caching and settling to the writes, and `calibrate` reports.
"""
