"""What needs PySpark: an extra, `reshardctl[spark]`, imported when it is used."""
