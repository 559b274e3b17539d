"""The graphs that come with Fabula, a package each; none knows another's insides, or a store."""
