"""hssvm on data frames as they are, beside tools that encode the columns themselves."""
