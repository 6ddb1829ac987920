"""The page on which runs are watched: a server on this machine, fed by the logs of runs, and what browsers show."""
