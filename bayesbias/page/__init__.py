"""The pages: self-contained HTML files that say what a fit or an audit shows, and what it rests on."""

from bayesbias.page.audit import write_audit_page as write_audit_page
from bayesbias.page.debias_report import write_debias_page as write_debias_page
from bayesbias.page.report import write_report as write_report
