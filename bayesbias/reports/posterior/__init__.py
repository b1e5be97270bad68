"""What the posterior says: summary, contrasts, conclusions."""
