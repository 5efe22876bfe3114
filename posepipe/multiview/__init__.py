"""Several calibrated cameras before one scene: frames paired by time, people matched in world axes, joints fused."""
