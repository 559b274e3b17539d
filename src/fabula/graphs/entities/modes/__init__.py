"""The modes of five published systems over a network of entities."""

from __future__ import annotations

from fabula.graphs.entities.modes import fast, hippo, light, local, mini

MODES = {
    "fast": fast.MODE,
    "hippo": hippo.MODE,
    "light": light.MODE,
    "local": local.MODE,
    "mini": mini.MODE,
}
