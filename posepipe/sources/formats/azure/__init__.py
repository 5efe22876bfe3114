"""Recordings of Azure Kinect: Matroska files, and the calibration inside."""
