// Licensed under the Apache License, Version 2.0; see LICENSE.

// The thrift gem ships its specs without the IDL of these; what the specs use of them is all there is here.
namespace rb Thrift.Test

struct CompactProtoTestStruct {
  1: byte a_byte,
  2: i16 a_i16,
  3: i32 a_i32,
  4: i64 a_i64,
  5: double a_double,
  6: string a_string,
  7: binary a_binary,
  8: bool true_field,
  9: bool false_field,
  10: list<byte> byte_list,
  11: list<bool> boolean_list,
  12: list<string> string_list,
  13: set<i64> i64_set,
  14: map<byte, string> byte_string_map,
  15: map<string, double> string_double_map,
  16: map<set<byte>, byte> set_byte_map,
  17: map<map<byte, byte>, byte> map_byte_map,
  200: list<list<i32>> lists,
  201: i32 far_off
}

const CompactProtoTestStruct COMPACT_TEST = {
  'a_byte': 127,
  'a_i16': -32000,
  'a_i32': 1000000000,
  'a_i64': 1099511627775,
  'a_double': 5.6789,
  'a_string': "some text",
  'true_field': 1,
  'false_field': 0,
  'byte_list': [-127, -1, 0, 1, 127],
  'boolean_list': [1, 1, 0, 1],
  'string_list': ["first", "second", ""],
  'i64_set': [1, 2, 1099511627775],
  'byte_string_map': {0: "", 1: "one", 127: "most"},
  'string_double_map': {"half": 0.5},
  'set_byte_map': {[0, 1]: 2},
  'map_byte_map': {{1: 1}: 2},
  'lists': [[1, 2], [], [3]],
  'far_off': 5
}

struct SingleMapTestStruct {
  1: required map<i32, i32> i32_map
}

struct BigFieldIdStruct {
  1: string field1,
  45: string field2
}

struct BreaksRubyCompactProtocol {
  1: string field1,
  2: BigFieldIdStruct field2,
  3: i32 field3
}

service Srv {
  i32 Janky(1: i32 i32arg),
  void voidMethod(),
  i32 primitiveMethod(),
  CompactProtoTestStruct structMethod()
}
