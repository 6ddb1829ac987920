"""Islands: populations of their own, called demes, that send each other solutions (Liu, Wang 2015)."""
