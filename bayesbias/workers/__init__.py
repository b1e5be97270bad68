"""Work that is split into cells, and the workers that answer them: this process, others, or those of a cluster."""
