"""Block traces: one reader for many formats, and writers."""
