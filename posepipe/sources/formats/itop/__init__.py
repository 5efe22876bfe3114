"""The ITOP dataset, and rows of HDF5 arrays read within limits."""
