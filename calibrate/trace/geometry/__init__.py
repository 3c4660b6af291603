"""Where blocks lie on the platter: zones, tracks, heads and skews from the angles of accesses."""
