"""What several commands use: options, help texts, tables, progress and the last answer."""
