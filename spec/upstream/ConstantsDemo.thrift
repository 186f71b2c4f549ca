// Licensed under the Apache License, Version 2.0; see LICENSE.

// The constants that the thrift gem's constants_demo_spec.rb (since 0.23) looks at.
namespace rb ConstantsDemo

struct thing {
  1: i32 hello,
  2: i32 goodbye,
  3: uuid id,
  4: uuid my_id,
  5: optional uuid my_optional_id
}

const i32 myInt = 3
const i32 hex_const = 0x0001F
const i32 negative_hex_constant = -0x0001F
const i32 GEN_ME = -3523553
const double GEn_DUB = 325.532
const double GEn_DU = 85.2355
const double e10 = 1e10
const double e11 = -1e10
const string GEN_STRING = "asldkjasfd"
const uuid GEN_UUID = "00000000-4444-CCCC-ffff-0123456789ab"
const uuid GEN_GUID = "00112233-4455-6677-8899-aaBBccDDeeFF"
const uuid MY_UUID = "00000000-4444-CCCC-ffff-0123456789ab"
const uuid MY_GUID = "00112233-4455-6677-8899-aaBBccDDeeFF"
const list<i32> GEN_LIST = [235235, 23598352, 3253523]
const map<i32, i32> GEN_MAP = {35532: 233, 43523: 853}
const map<string, i32> GEN_MAP2 = {"hello": 233, "lkj98d": 853, "lkjsdf": 98325}
const map<i32, map<i32, i32>> GEN_MAPMAP = {235: {532: 53255, 235: 235}}
const set<i32> GEN_SET = [235, 235, 53235]
const set<uuid> GUID_SET = ["00112233-4455-6677-8899-aaBBccDDeeFF", "00000000-4444-CCCC-ffff-0123456789ab"]

const thing GEN_THING = {
  'hello': 325,
  'goodbye': 325352,
  'id': "00112233-4455-6677-8899-aaBBccDDeeFF",
  'my_id': "00000000-4444-CCCC-ffff-0123456789ab",
  'my_optional_id': "00000000-4444-CCCC-ffff-0123456789ab"
}

const map<i32, thing> GEN_WHAT = {
  35: {
    'hello': 325,
    'goodbye': 325352,
    'id': "00000000-4444-CCCC-ffff-0123456789ab",
    'my_id': "00000000-4444-CCCC-ffff-0123456789ab",
    'my_optional_id': "00000000-4444-CCCC-ffff-0123456789ab"
  }
}
