"""The loop: the model thinks, tools act, until there is an answer or an end."""
