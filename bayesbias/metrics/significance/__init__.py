"""P-values of the literature: the permutation test of WEAT and t-tests of distances."""
