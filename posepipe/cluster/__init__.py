"""Work on many processes, of this machine or of many, over dask.distributed: nothing here runs unless asked for."""
