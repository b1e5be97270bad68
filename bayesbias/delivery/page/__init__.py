"""The pages: HTML files that need nothing else, of a fit, an audit, seeds, asymmetry, and what each rests on."""

from bayesbias.delivery.page.asymmetry import write_asymmetry_page as write_asymmetry_page
from bayesbias.delivery.page.audit import write_audit_page as write_audit_page
from bayesbias.delivery.page.debias_report import write_debias_page as write_debias_page
from bayesbias.delivery.page.fit.fit_page import write_report as write_report
from bayesbias.delivery.page.inference import write_inference_page as write_inference_page
from bayesbias.delivery.page.seeds import write_seeds_page as write_seeds_page
