"""Settings, presets, and the models as they are configured."""
