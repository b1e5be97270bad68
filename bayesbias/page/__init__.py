"""The page: one self-contained HTML file that says what a fit shows, and what it rests on."""

from bayesbias.page.report import write_report as write_report
