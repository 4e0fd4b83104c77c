"""Data in histories: values, arguments, failures and contexts as JSON text, and back.

Everything that flowpy writes into SWF's text fields is made here and read here, once (contract version 1).
"""

from __future__ import annotations

from flowpy.data.arguments import Arguments, check_arguments, decode_arguments, encode_arguments, input_with_signals
from flowpy.data.codecs import Codec, Compression, DecodeOnly
from flowpy.data.context import CONTRACT, Context, decode_context, encode_context
from flowpy.data.converter import DEFAULT, MARK, Converter
from flowpy.data.encryption import Encryption
from flowpy.data.failures import Failure, encode_failure, failure_of, failure_text
from flowpy.data.jsontext import parse, same
from flowpy.data.limits import CONTEXT, CONTROL, DATA, DETAILS, HEARTBEAT, IDENTIFIER, REASON, check_length
from flowpy.data.payloads import PLAIN, Payloads
from flowpy.data.reading import decode_failure
from flowpy.data.s3 import S3Store
from flowpy.data.sealing import open_events
from flowpy.data.stores import DirectoryStore, MemoryStore, Store

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
    "PLAIN",
    "REASON",
    "Arguments",
    "Codec",
    "Compression",
    "Context",
    "Converter",
    "DecodeOnly",
    "DirectoryStore",
    "Encryption",
    "Failure",
    "MemoryStore",
    "Payloads",
    "S3Store",
    "Store",
    "check_arguments",
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
    "open_events",
    "parse",
    "same",
]
