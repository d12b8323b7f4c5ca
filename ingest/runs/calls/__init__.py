"""The parts of files that an agent's tool call showed: one reader for the calls of all agents."""
