"""The modes that answer from reports on communities."""

from __future__ import annotations

from fabula.graphs.communities.modes import drift, dynamic, global_

MODES = {
    "drift": drift.MODE,
    "dynamic": dynamic.MODE,
    "global": global_.MODE,
}
