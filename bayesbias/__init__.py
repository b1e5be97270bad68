"""bayesbias."""
