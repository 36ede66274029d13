"""Holds a call to its workstream's credential scope, once the engine lets it run (K-68)."""

from redshank_node.tools.tool import Prepared
from redshank_shared.domain.scopes import server_usable
from redshank_shared.domain.workstream import Workstream
from redshank_shared.permissions.decision import Verdict, barred


def usable(verdict: Verdict, state: Workstream, prepared: Prepared) -> Verdict:
    """The verdict, or a denial where the call goes to a server that the scope does not let it use,
    or to one that needs a credential while it has none (K-75).
    """
    to = prepared.goes_to
    if to is None or server_usable(state.created.boundary.credentials, to.server, to.credentialed):
        return verdict
    return barred(verdict, to.server)
