// Licensed under the Apache License, Version 2.0; see LICENSE.

// What `rake benchmark:codec` sends besides the structs of spec/fixtures/echo.thrift.
namespace rb CodecShapes

struct Node {
  1: i32 key,
  2: string label,
  3: optional list<Node> children
}

struct Words {
  1: list<string> words
}

struct Blob {
  1: binary data
}

struct Wide {
  1: optional i32 f1,
  2: optional string f2,
  3: optional i64 f3,
  4: optional double f4,
  5: optional bool f5,
  6: optional list<i32> f6,
  7: optional i32 f7,
  8: optional string f8,
  9: optional i64 f9,
  10: optional double f10,
  11: optional bool f11,
  12: optional list<i32> f12,
  13: optional i32 f13,
  14: optional string f14,
  15: optional i64 f15,
  16: optional double f16,
  17: optional bool f17,
  18: optional list<i32> f18,
  19: optional i32 f19,
  20: optional string f20,
  21: optional i64 f21,
  22: optional double f22,
  23: optional bool f23,
  24: optional list<i32> f24,
  25: optional i32 f25,
  26: optional string f26,
  27: optional i64 f27,
  28: optional double f28,
  29: optional bool f29,
  30: optional list<i32> f30,
  31: optional i32 f31,
  32: optional string f32,
  33: optional i64 f33,
  34: optional double f34,
  35: optional bool f35,
  36: optional list<i32> f36,
  37: optional i32 f37,
  38: optional string f38,
  39: optional i64 f39,
  40: optional double f40,
  41: optional bool f41,
  42: optional list<i32> f42,
  43: optional i32 f43,
  44: optional string f44,
  45: optional i64 f45,
  46: optional double f46,
  47: optional bool f47,
  48: optional list<i32> f48,
  49: optional i32 f49,
  50: optional string f50,
  51: optional i64 f51,
  52: optional double f52,
  53: optional bool f53,
  54: optional list<i32> f54,
  55: optional i32 f55,
  56: optional string f56,
  57: optional i64 f57,
  58: optional double f58,
  59: optional bool f59,
  60: optional list<i32> f60
}
