// Licensed under the Apache License, Version 2.0; see LICENSE.

// What spec/interop sends to other languages' libraries and gets back.
namespace rb Interop
namespace cpp interop
namespace py interop

enum Colour {
  RED = 1,
  GREEN = -7
}

struct Leaf {
  1: i32 number,
  2: optional string text
}

union Choice {
  1: i64 number,
  2: string text,
  3: Leaf leaf
}

exception Trouble {
  1: string message,
  2: i32 code
}

struct All {
  1: optional bool yes,
  2: optional bool no,
  3: optional i8 small,
  4: optional i16 medium,
  5: optional i32 large,
  6: optional i64 huge,
  7: optional double number,
  8: optional string text,
  9: optional binary bytes,
  10: optional Colour colour,
  11: optional list<bool> flags,
  12: optional list<i64> integers,
  13: optional list<double> doubles,
  14: optional list<string> texts,
  15: optional set<i32> numbers,
  16: optional map<string, i32> counts,
  17: optional map<i64, list<Leaf>> lists,
  18: optional Leaf leaf,
  19: optional list<Leaf> leaves,
  20: optional Choice choice,
  21: optional Trouble trouble,
  22: optional list<list<map<string, set<string>>>> nested,
  300: optional i32 far
}
