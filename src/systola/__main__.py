"""`python -m systola` is the command line."""

import sys

from systola.cli import main

sys.exit(main())
