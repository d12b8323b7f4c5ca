"""What an agent's tool call showed of files: one reader for the calls of every agent."""
