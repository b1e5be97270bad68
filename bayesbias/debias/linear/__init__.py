"""Methods that are one matrix, which every word's vector is multiplied with."""
