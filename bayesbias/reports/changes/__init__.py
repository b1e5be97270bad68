"""The same gap under several conditions: embeddings, periods, methods of debiasing."""
