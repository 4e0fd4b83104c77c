"""An embedded Amazon SWF. It knows nothing of flowpy but its error classes."""
