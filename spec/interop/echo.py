"""Reads structs and writes them again: echo.py GENERATED_CODE PROTOCOL < messages > messages.

A message is its length, four bytes, big-endian, and the struct `All` of interop.thrift.
"""

import struct
import sys

sys.path.insert(0, sys.argv[1])

from interop.ttypes import All  # noqa: E402
from thrift.protocol import TBinaryProtocol, TCompactProtocol  # noqa: E402
from thrift.transport import TTransport  # noqa: E402

FACTORIES = {
    "binary": TBinaryProtocol.TBinaryProtocolFactory,
    "compact": TCompactProtocol.TCompactProtocolFactory,
    "accelerated": TBinaryProtocol.TBinaryProtocolAcceleratedFactory,
    "compact accelerated": TCompactProtocol.TCompactProtocolAcceleratedFactory,
}


def main():
    factory = FACTORIES[sys.argv[2]]()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        header = source.read(4)
        if not header:
            return
        message = source.read(struct.unpack("!I", header)[0])
        value = All()
        value.read(factory.getProtocol(TTransport.TMemoryBuffer(message)))
        buffer = TTransport.TMemoryBuffer()
        value.write(factory.getProtocol(buffer))
        sink.write(struct.pack("!I", len(buffer.getvalue())) + buffer.getvalue())


main()
