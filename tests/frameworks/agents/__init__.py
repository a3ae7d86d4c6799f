"""One module a framework, imported only inside its environment: a real agent with a stub model plays the script."""
