"""The engine of arrays behind a cache on SSDs: two arrays of the kernel, and the program that asks them."""
