"""ROS messages that carry depth, calibration and poses."""
