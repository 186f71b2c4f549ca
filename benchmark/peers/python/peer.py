# Writes and reads the shapes of `rake benchmark:codec` with Python's Thrift and its C codec; answers as programs/peer.rb.

import gc
import hashlib
import json
import os
import struct
import sys
import time

NAMES = {"bool": "BOOL", "byte": "BYTE", "i16": "I16", "i32": "I32", "i64": "I64", "double": "DOUBLE",
         "string": "STRING", "list": "LIST", "set": "SET", "map": "MAP", "struct": "STRUCT"}


def describe(value):
    """What Plain.describe of codec/plain.rb makes of the same value."""
    if value is True or value is False:
        return "t" if value else "f"
    if isinstance(value, int):
        return "i%d" % value
    if isinstance(value, float):
        return "d" + struct.pack(">d", value).hex()
    if isinstance(value, str):
        return "s" + value.encode("utf-8").hex()
    if isinstance(value, bytes):
        return "s" + value.hex()
    if isinstance(value, (set, frozenset)):
        return "(%s)" % ",".join(sorted(map(describe, value)))
    if isinstance(value, list):
        return "[%s]" % ",".join(map(describe, value))
    if not isinstance(value, dict):
        fields = (field[2] for field in value.thrift_spec if field)
        value = {name: getattr(value, name) for name in fields if getattr(value, name) is not None}
    return "{%s}" % ",".join(sorted("%s:%s" % (describe(k), describe(v)) for k, v in value.items()))


def struct_class(name, fields):
    """A class with the initialization that the compiler writes."""
    lines = ["def __init__(self, %s):" % ", ".join("%s=None" % field["name"] for field in fields)]
    lines += ["    self.%s = %s" % (field["name"], field["name"]) for field in fields]
    scope = {}
    exec("\n".join(lines), scope)
    return type(name, (object,), {"__init__": scope["__init__"]})


class Peer:
    def __init__(self):
        self.operations = {}
        self.counts = {}

    def learn(self, schema):
        self.classes = {name: struct_class(name, fields) for name, fields in schema["classes"].items()}
        self.references = []
        for name, fields in schema["classes"].items():
            spec = [None] * (max(field["id"] for field in fields) + 1)
            for field in fields:
                spec[field["id"]] = (field["id"], self.type(field), field["name"], self.details(field), None)
            self.classes[name].thrift_spec = tuple(spec)
        for reference in self.references:
            reference[1] = reference[0].thrift_spec

    def type(self, described):
        return getattr(TType, NAMES[described["type"]])

    def details(self, described):
        kind = described["type"]
        if kind == "string":
            return "BINARY" if described.get("binary") else "UTF8"
        if kind == "struct":
            self.references.append([self.classes[described["class"]], None])
            return self.references[-1]
        if kind in ("list", "set"):
            element = described["element"]
            return (self.type(element), self.details(element), False)
        if kind == "map":
            key, value = described["key"], described["value"]
            return (self.type(key), self.details(key), self.type(value), self.details(value), False)
        return None

    def check(self, directory):
        with open(os.path.join(directory, "schema.json")) as file:
            schema = json.load(file)
        self.learn(schema)
        answer = {}
        for name, class_name in schema["shapes"].items():
            try:
                with open(os.path.join(directory, name + ".thrift"), "rb") as file:
                    answer[name] = self.prepare(name, self.classes[class_name], file.read())
            except Exception as error:
                answer[name] = {"error": "%s: %s" % (type(error).__name__, error)}
        return answer

    # Below the generated read and write, which only call this; protocol and transport are reused.
    def prepare(self, name, klass, wire):
        spec = [klass, klass.thrift_spec]
        transport = TMemoryBuffer(wire)
        protocol = TBinaryProtocolAccelerated(transport, fallback=False)
        encode, decode = protocol._fast_encode, protocol._fast_decode
        rewind = transport.cstringio_buf.seek

        def read(count):
            for _ in range(count):
                value = klass()
                rewind(0)
                decode(value, protocol, spec)
            return value

        value = read(1)

        def write(count):
            for _ in range(count):
                data = encode(value, spec)
            return data

        again = klass()
        decode(again, TBinaryProtocolAccelerated(TMemoryBuffer(write(1)), fallback=False), spec)
        digests = [hashlib.sha256(describe(each).encode()).hexdigest() for each in (value, again)]
        if digests[0] != digests[1]:
            raise ValueError("what was written is not what was read")
        self.operations[name, "read"] = read
        self.operations[name, "write"] = write
        return {"digest": digests[0], "size": len(write(1))}

    def time(self, key, seconds):
        operation = self.operations[key]
        if key not in self.counts:
            self.counts[key] = self.calibrate(operation, seconds)
        gc.collect()
        return self.cost(operation, self.counts[key]) / self.counts[key]

    def cost(self, operation, count):
        start = time.process_time()
        operation(count)
        return time.process_time() - start

    def calibrate(self, operation, seconds):
        count = 1
        operation(2)
        while True:
            spent = self.cost(operation, count)
            if spent >= seconds / 4:
                return max(round(count * seconds / spent), 1)
            count *= 2

    def perform(self, command):
        if command["do"] == "check":
            return self.check(command["directory"])
        return {"cpu": self.time((command["shape"], command["direction"]), command["seconds"])}


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


try:
    from thrift.protocol import fastbinary  # noqa: F401
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
    from thrift.Thrift import TType
    from thrift.transport.TTransport import TMemoryBuffer
except ImportError as error:
    say({"missing": str(error)})
    sys.exit()

try:
    from importlib.metadata import version
    say({"version": "thrift %s of Python %d.%d" % (version("thrift"), *sys.version_info[:2])})
except Exception:
    say({"version": "thrift of Python %d.%d" % sys.version_info[:2]})
peer = Peer()
for line in sys.stdin:
    say(peer.perform(json.loads(line)))
