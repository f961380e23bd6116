from referencing import Registry, Resource
from referencing.exceptions import NoSuchResource

resource = Resource.from_contents({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"n": {"type": "integer"}}})
registry = Registry().with_resource("urn:numbers", resource)
try:
    registry.resolver().lookup("urn:other")
except Exception as e:
    failed = type(e).__name__
[registry.resolver().lookup("urn:numbers#/$defs/n").contents, failed, len(registry), issubclass(NoSuchResource, KeyError)]
