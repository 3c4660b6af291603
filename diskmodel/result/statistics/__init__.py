"""Estimators: warm-up, batch means, quantiles and their intervals, stability."""
