"""Objectives that are measured elsewhere: by processes, by executors, or by whoever asks and tells."""
