"""Models of inference that are trained here, and those of Hugging Face."""
