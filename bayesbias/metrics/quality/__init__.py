"""What an embedding is good for: similarity of words and analogies, on the user's files."""
