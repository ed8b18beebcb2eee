"""The permission that each action of each installed package takes, by resource, action and method."""

CLASS = "{source}/{module_name}/{job_class_name}"

# Actions that only read, whatever their method.
READS = frozenset({"*/query POST"})

# The permission on the resource itself, by resource (* for any), action and method.
NEEDS = {
    "*/notes GET": "view",
    "*/notes POST": "view",
    "*/history GET": "view",
    "*/query POST": "view",
    "*/trace GET": "view",
    "*/paths GET": "view",
    "racks/elevation GET": "view",
    "dynamic-groups/members GET": "view",
    "git-repositories/sync GET": "view",
    "git-repositories/sync POST": "change",
    "graphql-queries/run POST": "add",
    "job-buttons/run POST": "view",
    "job-results/logs GET": "view",
    "jobs/run POST": "run",
    "jobs/variables GET": "view",
    f"jobs/{CLASS} GET": "view",
    f"jobs/{CLASS}/run POST": "run",
    "object-changes/feed GET": "view",
    "object-changes/revert POST": "view",
    "plans/apply POST": "view",
    "scheduled-jobs/approve POST": "change",
    "scheduled-jobs/deny POST": "delete",
    "scheduled-jobs/dry-run POST": "view",
    "secrets/check GET": "view",
    "webhook-deliveries/retry POST": "change",
    "prefixes/available-ips GET": "view",
    "prefixes/available-ips POST": "view",
    "prefixes/available-prefixes GET": "view",
    "prefixes/available-prefixes POST": "view",
    "maintenance-windows/close POST": "change",
}
