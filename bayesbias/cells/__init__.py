"""Many questions at once: cells, the workers that answer them, stored answers, audits and reports."""
