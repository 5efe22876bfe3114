"""ROS 2 without ROS: its topics over DDS. Only this folder imports cyclonedds (extra ``ros2``)."""
