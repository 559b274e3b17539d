"""The modes over summary trees and details."""

from __future__ import annotations

from fabula.graphs.aspects.modes import bottom_up, details, top_down

MODES = {
    "bottom-up": bottom_up.MODE,
    "details": details.MODE,
    "top-down": top_down.MODE,
}
