"""Many embeddings and questions: audits and their gate, comparisons, periods, seeds, random lists."""

from bayesbias.cli.many_questions import audits, comparisons, gate, periods, random_lists, seeds  # noqa: F401 - each file adds its commands
