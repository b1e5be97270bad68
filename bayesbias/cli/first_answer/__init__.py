"""From an embedding to an answer: the demo, and the commands that lead from vectors to a page."""

from bayesbias.cli.first_answer import demo, fit, report, table  # noqa: F401 - each file adds its commands
