"""What several commands use: reading input, printing, and ending."""
