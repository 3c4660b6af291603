"""Time in a trace: instants of issue, the revolution, and the platter's drift against the measured clock."""
