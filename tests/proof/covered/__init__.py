"""Line and branch coverage of the package, and the gate on it."""
