"""Did debiasing work: what it did to the association that was asked about, to other measures, and to quality."""
