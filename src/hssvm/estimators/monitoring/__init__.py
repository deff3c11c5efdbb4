"""What users see of a running fit: callbacks, logs, the bar of a notebook, and warnings."""
