"""What a result rests on: the model, single words, the size of the study."""
