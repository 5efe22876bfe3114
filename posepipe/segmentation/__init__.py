"""Which pixels are people: planes, connected components, background, person filter."""
