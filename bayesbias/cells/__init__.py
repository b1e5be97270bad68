"""Many questions at once: cells, who answers them, answers that are kept, and the audits and reports they make."""
