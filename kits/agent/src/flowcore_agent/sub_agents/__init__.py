"""Sub-agents: loops of their own inside a call of the model, for one piece of the work each."""
