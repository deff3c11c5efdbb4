"""The report of a fit, its summary, and the monitor that connects a running fit with its caller."""
