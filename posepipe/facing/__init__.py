"""Which way a person faces, by a convolutional network that sees their picture in depth, and no parts or joints."""
