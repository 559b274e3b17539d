"""The commands of `fabula`, one module each; a module's `command` is what click calls."""
