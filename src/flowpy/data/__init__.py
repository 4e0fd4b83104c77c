"""Data in histories: values, arguments, failures and contexts as JSON text, and back.

Everything that flowpy writes into SWF's text fields is made here and read here, once (contract version 1).
"""

from __future__ import annotations

from flowpy.data.arguments import Arguments, decode_arguments, encode_arguments, input_with_signals
from flowpy.data.context import CONTRACT, Context, decode_context, encode_context
from flowpy.data.converter import DEFAULT, MARK, Converter
from flowpy.data.failures import Failure, encode_failure, failure_of, failure_text
from flowpy.data.jsontext import parse, same
from flowpy.data.limits import CONTEXT, CONTROL, DATA, DETAILS, HEARTBEAT, IDENTIFIER, REASON, check_length
from flowpy.data.reading import decode_failure

__all__ = [
    "CONTEXT",
    "CONTRACT",
    "CONTROL",
    "DATA",
    "DEFAULT",
    "DETAILS",
    "HEARTBEAT",
    "IDENTIFIER",
    "MARK",
    "REASON",
    "Arguments",
    "Context",
    "Converter",
    "Failure",
    "check_length",
    "decode_arguments",
    "decode_context",
    "decode_failure",
    "encode_arguments",
    "encode_context",
    "encode_failure",
    "failure_of",
    "failure_text",
    "input_with_signals",
    "parse",
    "same",
]
