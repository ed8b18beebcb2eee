"""Components of devices: ports, interfaces, bays, inventory items and their templates."""
