"""Several objectives: which vectors are dominated, and archives of those that are not."""
