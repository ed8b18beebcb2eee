"""The workbench: ports of several devices beside each other, paired and connected in one request."""
