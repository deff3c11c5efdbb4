"""hssvm beside other SVMs, in one run. The rivals: pip install scikit-learn-intelex."""
