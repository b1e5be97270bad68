"""Methods that do to each word what its own vector, neighbours or lists ask for."""
