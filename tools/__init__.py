"""The commands of `cascade`: one file a command; parse, call one function, print."""
