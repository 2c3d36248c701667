"""Validates cases by the JSON Schema of the case file. Usage: case_schema.py SCHEMA CASES

CASES is a list of cases. Prints a line for each: `valid`, or the error.
"""

import json
import sys

import jsonschema

schema, cases = (json.load(open(name)) for name in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for case in cases:
    error = jsonschema.exceptions.best_match(validator.iter_errors(case))
    print("valid" if error is None else error.message.replace("\n", " "))
