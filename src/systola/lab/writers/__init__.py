"""One report, or one table of it, in each of the formats that it can have."""
