"""Pure: compares a table before and after a job: effect, proof and calibration."""
