"""The tree learners, with scikit-learn's interface."""
