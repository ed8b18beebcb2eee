"""Import of device types from a folder of YAML files."""
