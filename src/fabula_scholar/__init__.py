"""What scholars of texts need beside the core: words in their contexts, pictures, other formats."""
