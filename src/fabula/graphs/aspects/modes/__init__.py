"""Ways through the trees and details."""

from __future__ import annotations

from fabula.graphs.aspects.modes import adaptive, bottom_up, details, routed, top_down

MODES = {
    "adaptive": adaptive.MODE,
    "bottom-up": bottom_up.MODE,
    "details": details.MODE,
    "routed": routed.MODE,
    "top-down": top_down.MODE,
}
