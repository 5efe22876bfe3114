"""Mutations inside the containers of files, a module a container."""
