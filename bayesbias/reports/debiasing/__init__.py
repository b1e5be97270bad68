"""The report on debiasing: its effects on an association, on other measures, and on quality."""
