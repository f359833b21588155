"""Whose bytes: files on disks, HDFS and object stores."""
