"""What all pictures use: the frame of a page, the stage, SVG, PNG and the read of a document."""
