"""Replacements for what jobs of Nautobot use and netinv does not have; the tables of docs/jobs-from-nautobot.md."""

from __future__ import annotations

from collections.abc import Mapping

READ_LIST = "self.inventory.list({label}, name=value, name__ic=part)"
READ_ONE = "self.inventory.get({label}, name=value)"
CREATE = "self.inventory.create({label}, {field: value})"
UPDATE = 'self.inventory.update({label}, {"id": obj["id"], field: value})'
DELETE = 'self.inventory.delete({label}, obj["id"])'
FIND_OR_CREATE = "list({label}, …), then create or update; self.inventory has the three"
# Methods of a model's manager, each with what reads or writes the same.
MANAGER: Mapping[str, str] = {
    "all": "self.inventory.list({label})",
    "filter": READ_LIST,
    "exclude": "self.inventory.list({label}, name__n=value)",
    "get": READ_ONE,
    "first": "the first item of " + READ_LIST,
    "last": "the last item of " + READ_LIST,
    "count": "self.inventory.count({label})",
    "exists": "self.inventory.count({label}, name=value) > 0",
    "create": CREATE,
    "bulk_create": "self.inventory.create({label}, [body, body])",
    "bulk_update": 'self.inventory.update({label}, [{"id": …}, {"id": …}])',
    "get_or_create": FIND_OR_CREATE,
    "update_or_create": FIND_OR_CREATE,
    "get_for_model": 'write the slug: "status": "active"',
    "restrict": "remove it; a job may do anything, whatever the permissions of its user",
}
# Methods of objects and of related managers.
METHODS: Mapping[str, str] = {
    "validated_save": UPDATE,
    "save": UPDATE,
    "full_clean": "remove it: create and update check the rules of the API",
    "refresh_from_db": 'obj = self.inventory.get({label}, id=obj["id"])',
    "get_absolute_url": 'obj["url"]',
    "get_for_model": MANAGER["get_for_model"],
    "get_computed_field": 'obj["computed_fields"]["slug"], of a list with include="computed_fields"',
    "get_config_context": 'obj["config_context"]',
    "get_status_display": 'obj["status"]["label"]',
    "values_list": 'a comprehension over the list: [obj["name"] for obj in …]',
    "values": "the list itself: its items are dictionaries",
    "select_related": "remove it: objects hold those that they refer to",
    "prefetch_related": "remove it: objects hold those that they refer to",
    "order_by": 'ordering="name" as a parameter of list',
    "distinct": "remove it: lists hold each object once",
    "iterator": "remove it",
    "all": 'self.inventory.list of the other model, by the object: list({label}, device_id=obj["id"])',
    "filter": 'self.inventory.list of the other model, by the object: list({label}, device_id=obj["id"], name=…)',
    "exclude": "a parameter with __n: list({label}, name__n=value)",
    "first": "the first item of the list",
    "exists": "self.inventory.count({label}, …) > 0",
}
TAGS = 'self.inventory.update({label}, {"id": obj["id"], "tags": {"add": [{"name": tag}]}})'
ATTRIBUTES: Mapping[str, str] = {
    "cf": 'obj["custom_fields"]["name"]',
    "custom_field_data": 'obj["custom_fields"]["name"]',
    "_custom_field_data": 'obj["custom_fields"]["name"]',
}
# Attributes and methods of the job itself.
OF_JOB: Mapping[str, str] = {
    "create_file": "results have no files: return the text from run()",
    "job_result": "self.request.id is the request id of the changes; the service keeps the result",
    "fail": "self.log_failure(message): the job goes on, and has failed when it ends",
    "file_path": "self.load_yaml and self.load_json read files beside the module",
    "celery_kwargs": "none",
    "active_test": "none: entries of the log have the method as their grouping",
}
# Names that modules import, by the beginning of the module's name and the name.
IMPORTS: Mapping[tuple[str, str], str] = {
    ("django.db", "transaction"): "remove it: a run is one transaction, of which all is kept or nothing",
    ("django.db", "IntegrityError"): "from netinv_core.errors import RequestError",
    ("django.db.transaction", "atomic"): "remove it: a run is one transaction, of which all is kept or nothing",
    ("django.db.models", "Q"): "parameters of list; several values of one parameter are alternatives",
    ("django.db.models", "F"): "compare in Python",
    ("django.db.models", "Count"): 'counts that objects hold (obj["device_count"]), or self.inventory.count',
    ("django.db.models", "Prefetch"): "remove it",
    ("django.core.exceptions", "ValidationError"): "from netinv_core.errors import RequestError",
    ("django.core.exceptions", "ObjectDoesNotExist"): "from netinv_core.errors import NotFound",
    ("django.core.exceptions", "MultipleObjectsReturned"): "from netinv_core.errors import NotFound",
    ("django.contrib.contenttypes.models", "ContentType"): 'the label of the model, such as "dcim.device"',
    ("django.conf", "settings"): "os.environ: jobs have no settings of their own",
    ("django.utils.text", "slugify"): "remove it: slugs that are left out are made from names",
    ("django.contrib.auth", "get_user_model"): "self.user is the user who asked for the run",
    ("celery.utils.log", "get_task_logger"): "self.logger",
    ("celery.exceptions", "SoftTimeLimitExceeded"): "from netinv_extras.jobs import SoftTimeLimitExceeded",
    ("nautobot.extras.choices", "LogLevelChoices"): "the log methods: self.log_info, self.log_warning …",
    ("nautobot.extras.choices", "JobResultStatusChoices"): "raise JobFailed, or self.log_failure",
    ("nautobot.utilities.exceptions", "AbortTransaction"): "from netinv_extras.jobs import JobFailed",
    ("nautobot.core.exceptions", "AbortTransaction"): "from netinv_extras.jobs import JobFailed",
}
USES: Mapping[str, str] = {
    "transaction": IMPORTS["django.db", "transaction"],
    "Q": 'list(…, name=["a", "b"]) for alternatives of one field; for several fields two lists, joined by id',
    "F": IMPORTS["django.db.models", "F"],
    "get_task_logger": IMPORTS["celery.utils.log", "get_task_logger"],
    "slugify": IMPORTS["django.utils.text", "slugify"],
    "settings": IMPORTS["django.conf", "settings"],
    "LogLevelChoices": IMPORTS["nautobot.extras.choices", "LogLevelChoices"],
}
MODEL = "remove it: models are named by label, {labels}"
OTHER_IMPORT = "there is nothing like it here; do without, or import a package of your own"
WHOLE_IMPORT = "from nautobot.extras.jobs import Job, StringVar …"
LABEL_OF_MODEL = "model={label}"
DISPLAY_FIELD = "remove display_field: choices show the name of the object"
MISSING_NAME = "netinv_extras.jobs has no such name; see docs/jobs.md"
INSTANCE = 'objects are dictionaries, as in the API: {receiver}["{name}"]'
WRITTEN = 'a member of what update is given: {"id": {receiver}["id"], "{name}": value}'
SENSITIVE = "add has_sensitive_variables = False: a job with sensitive variables cannot require approval"
