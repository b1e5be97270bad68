"""The default model: means of lists, effects of groups and words, with the words' covariances integrated out."""
