"""Operators make a solution from others, or choose one: plain functions that kernels call, one kind a file.

Each gets the engine's record first, and a key to a stream of random numbers last (see `systola.model.rng.numbers`).
"""
