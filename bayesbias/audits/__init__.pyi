"""Many questions at once."""

from .audit_frame import AuditFrame as AuditFrame
from .audit_frame import AuditRecord as AuditRecord
from .audit_report import AuditReport as AuditReport
from .debias_result import DebiasReport as DebiasReport
from .debias_result import measure_correlations as measure_correlations
from .freezing import freeze_plan as freeze_plan
from .gate import GateResult as GateResult
from .ranks import Ranks as Ranks
from .ranks import rank as rank
