"""The pages: HTML files that need nothing else, of a fit, an audit, seeds, asymmetry, and what each rests on."""

from bayesbias.page.asymmetry import write_asymmetry_page as write_asymmetry_page
from bayesbias.page.audit import write_audit_page as write_audit_page
from bayesbias.page.debias_report import write_debias_page as write_debias_page
from bayesbias.page.report import write_report as write_report
from bayesbias.page.seeds import write_seeds_page as write_seeds_page
