"""Model files with something changed in the encoder of the table."""

import base64
import json

from helpers.mutants import bytes_changed, document_changed, members_changed, unzipped, zipped


def with_encoder(content, change):
    """A model file with the document of its encoder changed."""
    (name, text), *arrays = unzipped(content)
    document = json.loads(text)
    document["encoder"] = change(document["encoder"])
    return zipped([(name, json.dumps(document).encode()), *arrays])


def encoder_changed(content, rng):
    """The names, kinds and outputs of columns."""

    def change(encoder):
        archive = zipped([("model.json", json.dumps(encoder).encode())])
        return json.loads(unzipped(document_changed(archive, rng))[0][1])

    return with_encoder(content, change)


def steps_changed(content, rng):
    """The archive of the transformers: its bytes, or members."""
    change = (bytes_changed, members_changed)[rng.integers(2)]

    def change_steps(encoder):
        steps = change(base64.b64decode(encoder["steps"]), rng)
        return encoder | {"steps": base64.b64encode(steps).decode()}

    return with_encoder(content, change_steps)


def schema_changed(content, rng):
    """The description of the transformers: their types, and their attributes."""

    def change_schema(encoder):
        members = dict(unzipped(base64.b64decode(encoder["steps"])))
        archive = zipped([("model.json", members["schema.json"])])
        members["schema.json"] = unzipped(document_changed(archive, rng))[0][1]
        return encoder | {"steps": base64.b64encode(zipped([*members.items()])).decode()}

    return with_encoder(content, change_schema)
