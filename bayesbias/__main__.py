"""`python -m bayesbias`: the command line."""

from bayesbias.cli import main

main()
