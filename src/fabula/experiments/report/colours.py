"""The colours of a report, light and dark; figures are drawn in the light ones."""

from __future__ import annotations

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c2024",
    "quiet": "#5c6570",
    "rule": "#d9dde2",
    "wash": "#f4f5f7",
    "accent": "#2a62a8",
    "base": "#8a93a0",
    "warn": "#9a4b00",
    "warn-wash": "#fff4e5",
    "series-1": "#2b63a9",
    "series-2": "#c2570c",
    "series-3": "#1f7a5c",
    "series-4": "#8e3b8a",
    "series-5": "#a8861b",
    "series-6": "#b3324a",
    "series-7": "#3f8fb5",
    "series-8": "#6b6f2a",
}
DARK = {
    "paper": "#15181c",
    "ink": "#e4e7eb",
    "quiet": "#a3acb8",
    "rule": "#343a42",
    "wash": "#1d2126",
    "accent": "#7fb2ee",
    "base": "#87909d",
    "warn": "#ffc98a",
    "warn-wash": "#35270f",
    "series-1": "#7eb1ed",
    "series-2": "#f0975a",
    "series-3": "#5fc4a0",
    "series-4": "#d893d3",
    "series-5": "#dcc15f",
    "series-6": "#ee8396",
    "series-7": "#86cbe8",
    "series-8": "#bfc46e",
}
SERIES = tuple(LIGHT[name] for name in LIGHT if name.startswith("series-"))


def as_variables(colours: dict[str, str]) -> str:
    """Return the declarations of a style sheet, as --ink: #1c2024;"""
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


def to_variables(svg: str) -> str:
    """Replace the light colours of a drawing by the variables of the page that it is in."""
    for name, value in LIGHT.items():
        svg = svg.replace(value, f"var(--{name})")
    return svg
