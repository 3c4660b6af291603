"""Drives fitted to a part of fio's results over queue depths, and compared with the rest of them."""
