"""The label and edge types of the graph of episodes, and the step of its build."""

from __future__ import annotations

EPISODE = "Episode"
COMPRISES, NEXT_EPISODE = "COMPRISES", "NEXT_EPISODE"
EPISODES = "episodes"
"""The step in which a chat model is asked, and in which there may be gaps."""
