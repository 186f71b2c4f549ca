// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reads structs and writes them again: echo binary|compact < messages > messages. A message is its length, four bytes,
// big-endian, and the struct `All` of interop.thrift.
#include "interop_types.h"

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using apache::thrift::protocol::TBinaryProtocol;
using apache::thrift::protocol::TCompactProtocol;
using apache::thrift::protocol::TProtocol;
using apache::thrift::transport::TMemoryBuffer;

static std::shared_ptr<TProtocol> protocol_over(const std::shared_ptr<TMemoryBuffer> &buffer, bool compact)
{
    if (compact)
        return std::make_shared<TCompactProtocol>(buffer);
    return std::make_shared<TBinaryProtocol>(buffer);
}

static bool read_size(uint32_t &size)
{
    unsigned char bytes[4];
    if (!std::cin.read(reinterpret_cast<char *>(bytes), 4))
        return false;
    size = uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 | uint32_t(bytes[2]) << 8 | bytes[3];
    return true;
}

static void write_size(uint32_t size)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        std::cout.put(char(size >> shift & 0xff));
}

int main(int, char **argv)
{
    bool compact = std::string(argv[1]) == "compact";
    uint32_t size;
    while (read_size(size)) {
        std::vector<uint8_t> message(size);
        std::cin.read(reinterpret_cast<char *>(message.data()), size);
        interop::All value;
        auto source = std::make_shared<TMemoryBuffer>(message.data(), size);
        value.read(protocol_over(source, compact).get());
        auto sink = std::make_shared<TMemoryBuffer>();
        value.write(protocol_over(sink, compact).get());
        std::string bytes = sink->getBufferAsString();
        write_size(uint32_t(bytes.size()));
        std::cout << bytes;
    }
    std::cout.flush();
}
