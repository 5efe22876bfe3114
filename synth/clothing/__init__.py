"""Clothes, hair and held objects."""
