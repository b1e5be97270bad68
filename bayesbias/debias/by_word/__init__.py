"""Methods that change each word by its own vector, neighbours or lists, and are not one matrix."""
