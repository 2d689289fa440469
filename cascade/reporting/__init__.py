"""The parts of the report of a training run: what it measures, draws and says."""
