from reshardctl.commands.account import Account as Account
from reshardctl.commands.audit import AuditRequest as AuditRequest
from reshardctl.commands.audit import audit as audit
from reshardctl.commands.export import ExportRequest as ExportRequest
from reshardctl.commands.export import export as export
from reshardctl.commands.fix import fix as fix
from reshardctl.commands.fix import plan as plan
from reshardctl.commands.fix_many import fix_many as fix_many
from reshardctl.commands.fix_many import plan_many as plan_many
from reshardctl.commands.fix_request import FixRequest as FixRequest
from reshardctl.commands.inspect import Inspection as Inspection
from reshardctl.commands.inspect import InspectRequest as InspectRequest
from reshardctl.commands.inspect import inspect as inspect
from reshardctl.commands.observer import Observer as Observer
from reshardctl.commands.planned import FixResult as FixResult
from reshardctl.commands.planned import Planned as Planned
from reshardctl.commands.rebuild import RebuildRequest as RebuildRequest
from reshardctl.commands.rebuild import plan_rebuild as plan_rebuild
from reshardctl.commands.rebuild import rebuild as rebuild
from reshardctl.commands.sinks import Sink as Sink
from reshardctl.commands.status import StatusRequest as StatusRequest
from reshardctl.commands.status import StatusResult as StatusResult
from reshardctl.commands.status import status as status
from reshardctl.commands.undo import UndoResult as UndoResult
from reshardctl.commands.undo import undo as undo
from reshardctl.commands.undo_source import UndoRequest as UndoRequest

__version__: str
