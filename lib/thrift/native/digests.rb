# frozen_string_literal: true

module Thrift
  module Native
    # SHA256 of every source file of every thrift release that we know, by path below the gem's lib/.
    # Written by `rake digests`; don't edit.
    DIGESTS = {
      "thrift.rb" => [
        "5ff1079e4023e3de86cb0c87736a43f8f0a9733a3efd9864d5f9460ca2e7eda2", # 0.14.0 to 0.22.0
        "9a0578c2f6bcf4bafc4c07cb190fa02b459ff3aeb713ea62096122c5b8f11b19", # 0.23.0
        "6152e020378acf8304e4f1653523d1045b70f54c6b06ab3dd2c42ace72fceb46", # 0.24.0
        "d786ca460d24339b8c92d367e674f20b395257fb97d4c9541921ca2ca3631841", # 0.25.0
      ].freeze,
      "thrift/bytes.rb" => [
        "a62cfacf87e0e02ef8ff4d87804675bc3c0758bbf74020b3870c12a38ec28bec", # 0.14.0 to 0.22.0
        "0fd651fd9f2100b25230dcd568816c1cee3af1e9e3d69a5dd3271723e5a8ff0f", # 0.23.0
        "f1c8785c344babc2322b140bf8a255ac829241d12fff5065ce2e5c206eea78f7", # 0.24.0
        "421e019bcb24c1540ecedb400625cc0a0a01aff9eb8383a4c8e4ea30db1559a0", # 0.25.0
      ].freeze,
      "thrift/client.rb" => [
        "0f6266ee23c447aff1154ce60a2238a33e0fb7d2e195e85e09d9ddcdebfcd65e", # 0.14.0 to 0.17.0
        "dc836ef483356ebe151080574a389461756c43fda5a567b55ee2b960b537392d", # 0.18.0 to 0.22.0
        "9c556e565922c05a0d06b78ccf5d24b3baf8958897623a296857cbbe1ce7c43b", # 0.23.0
        "1846792042b62397b27b37114edf226f40668886cb42a3334dcff2e7e8c63c16", # 0.24.0
        "c66a7f6026c5f49e7d75d8f10d70f94a4e7ba69503e5e19495562b8890e8c75b", # 0.25.0
      ].freeze,
      "thrift/core_ext.rb" => [
        "1ffbca966d4c63221d53bbe5e756333aaeb5336d918d5634336b238116f1526f", # 0.14.0 to 0.22.0
      ].freeze,
      "thrift/core_ext/fixnum.rb" => [
        "e5f1f146e9b0346672a792b5eb096601ff6269a981fa2ad49b6135caf037a874", # 0.14.0 to 0.22.0
      ].freeze,
      "thrift/exceptions.rb" => [
        "b8697f7e7680edc0f44b992a208f3dcd4e7f3231d96675e03fc9eb55cba42478", # 0.14.0 to 0.22.0
        "281ede484f7bce4956bc9fc61cf27e84d763453cd6dcbf0e09c433df292edc94", # 0.23.0
        "6fa9a442e666b56d9029be06062fe55b3f84f812df4b30c5cb07ae1e5fee3f05", # 0.24.0
        "afe06185f84ba149bd264529bde2498d848dedbc8ee8f45917f51f583a7ff1e8", # 0.25.0
      ].freeze,
      "thrift/multiplexed_processor.rb" => [
        "6a1cba1487ca18ea15b3294f5989dffabcdd39b4d420b3e46b3fdfca8b010317", # 0.14.0 to 0.22.0
        "77469b685e681d012a669120bdcc9b28cad84f55043b3a65ae3244ffc0f39d5e", # 0.23.0
        "3d9ba164a739ce7294014449c8def25626b980df6b9bd9b051e8d05e343f5db7", # 0.24.0
        "e6a1522282a4dc602a5d6c27451c79fd5873c1d6e012358845ea3e0959c7eabe", # 0.25.0
      ].freeze,
      "thrift/processor.rb" => [
        "1d8372c259fd0231ad278f2251212a7bf1b3971b88507524801e34f43d95e0b6", # 0.14.0 to 0.22.0
        "a21a109460487782095d8e949562f709c4fffb3d30896ea6a5aea738bd004512", # 0.23.0
        "29e4da2c512bc35c70dcfbc0751f833f00a82fdf0450ba4b2f2d87fe0fea539a", # 0.24.0
        "25a43068d0c54a4c2af41e1bbfe5f092bd5844a9711c457497f2b1b5f63c301a", # 0.25.0
      ].freeze,
      "thrift/protocol/base_protocol.rb" => [
        "dc8b6325e657917c0bd12b5864bc5559dba6797cb84d719b9b4da521bd500afd", # 0.14.0 to 0.22.0
        "3bb5a73c7269fa0f0a146368a0bdc6c7ae12c546e76fe127e5a1545457b907a6", # 0.23.0
        "824cf00548804be7fb519362fa0861d6921d21e6b31537e35be73e07f968db72", # 0.24.0
        "061e2861dbb637e7359dc4f49ee713d9683db79105c4e53c9e2a51e9d40d19b7", # 0.25.0
      ].freeze,
      "thrift/protocol/binary_protocol.rb" => [
        "687038574c832fd84fd97c20e150b0b05511be2bbfe2d77c1df46c418c9e6b42", # 0.14.0 to 0.22.0
        "de6536d7e1b0f0f0f372c232e0d00156d8e192ea79829eac3e79e8925a9e3afc", # 0.23.0
        "8303e0202e6d64b56e7f1eb96b13612d9280c1eb139ebec2d19ff1a7f666f030", # 0.24.0
        "589f86de6704114adf9537d438a3afd41dac7a416e258260e6f3b777179a4275", # 0.25.0
      ].freeze,
      "thrift/protocol/binary_protocol_accelerated.rb" => [
        "66f566c79b7625dbde24fb149e85a07047122a93599d3aa04fa7e7672e5987f6", # 0.14.0 to 0.22.0
        "31857564b054a897e7af8555c0ee39a7ff8c3c63b676fe99eb9f133b3dfe31f6", # 0.23.0
        "0f114508ac3460a02810a0655070611776f890a62bfdd9baa152f7c4b563a235", # 0.24.0
        "f61a52f1ba37a968c9057b2a7378ce849598fa57814845cf04124454fb49460d", # 0.25.0
      ].freeze,
      "thrift/protocol/compact_protocol.rb" => [
        "908b5ca63523ac5329cbc3aa9f68328255b6d0f8ae55a32deafb7d2ceb2171b9", # 0.14.0 to 0.22.0
        "235305cd8a8dc49db3742ba82104973eb12efe399ff2b5f40a25d85a297e0f14", # 0.23.0
        "da0a52ded8fcad21d70e40dd3783a3bdb9f05c5ef45d9b7ef5d82d80fabbc51e", # 0.24.0
        "20f15c20cbdffd50e5d1303d745e274dada23fae198eb951d1d5574eec48401c", # 0.25.0
      ].freeze,
      "thrift/protocol/header_protocol.rb" => [
        "e49a0fcef6f5a25ef2cd8a68a77dbdd82acf25d9f2082cd979c2d9f112c507e5", # 0.23.0
        "67fdc89c5c977a32f8ba864fd8b25fcd8a5e2a8bff94d0b9c281d271e257cc9f", # 0.24.0
        "0f972b7e52e5eae3fe3e6f71df32d7eb030a9e0ec757e43846024b0141790457", # 0.25.0
      ].freeze,
      "thrift/protocol/json_protocol.rb" => [
        "de339dbbc35103ea01a3f5a7c527ccb03a362c0cf27da1b63f4567b860ae75c7", # 0.14.0 to 0.22.0
        "c126290ff56ac550caeeea710844e1d8efa4e9c8dcf3b7e63fd2e84822820f79", # 0.23.0
        "85af3eb3c5a54c9909c25805e6dadc2b1d5f20956af36288c19a9cb26cb63577", # 0.24.0
        "dfc2ffe53d4a4049692b845e0a91d87ef65ce13ee660de6597307140750fc17f", # 0.25.0
      ].freeze,
      "thrift/protocol/multiplexed_protocol.rb" => [
        "3c3a5f1c0492d54f245666000a64e4d659ddc44d51fd4c1f3cdf9ac0a0ae2775", # 0.14.0 to 0.22.0
        "24f808a8f86dd1e9f367c4cd50048d4ebd56721ce23d598045ebcedaa9aaceaf", # 0.23.0
        "3e85630ee055a0b0822ee829f99d5c2efb0b025774cd4a35e04058f93b691538", # 0.24.0
        "464fe43e6dd36b944550c6ca7f9c6a20e8d750111845063495da5ab87f7cce66", # 0.25.0
      ].freeze,
      "thrift/protocol/protocol_decorator.rb" => [
        "39770581f2193560d36f90cf0f494ca610529ddb8a8fc56501b1fe0266726f3e", # 0.14.0 to 0.22.0
        "71d87adf9790f92a7e470c5dfcc32a429acff31d03207f7ae251159b440d81be", # 0.23.0
        "77731432f63a751865f78f94cc06b65616a82a6185834a90ac1b64074e956984", # 0.24.0
        "de0a56ffbbdbb2b272c75262367dd93508a4fe76210228a9b27f00bc42dafba2", # 0.25.0
      ].freeze,
      "thrift/serializer/deserializer.rb" => [
        "01b4df76377d30783ad3cf3658cf9bc69ff5bfd2caf1253bbc36b77e4eb20507", # 0.14.0 to 0.22.0
        "26ea3cc6651380ab8dfa505f4fd82932bfd96656c8b34d42b2e91d90cd297a89", # 0.23.0
        "08617bf2964ef67bd1d52185afaf8bfce43d20a7e888167856c54a4a3e7e2909", # 0.24.0 to 0.25.0
      ].freeze,
      "thrift/serializer/serializer.rb" => [
        "f1c9b04dddd919fdda2e97f3374ccab001b023ac223939f23776e5f98f6ff803", # 0.14.0 to 0.22.0
        "e7cb619da443e75526b350346d02ef7d4707bb24f5a6e64a26f55262d65f7993", # 0.23.0
        "c45ea83ec42b640b7abf6a0589ac6ba29f1eccdfbf00b227be2a33544af15cfd", # 0.24.0
        "ba5c65672d039efb4a762d0f234321ff92271b8c6b66612e92adcd9e036cd3ca", # 0.25.0
      ].freeze,
      "thrift/server/base_server.rb" => [
        "abd3ebcbc6537df5b842748157c7e28e4016b76d24bddd5f74eaba3f915f6040", # 0.14.0 to 0.22.0
        "443b86e20d5d30feb50920cdf250acf422884760bf26babb66eec1f1874c71c5", # 0.23.0
        "590dc2ffaa8a0f7b70a96e49182efbb9b5b1bf9e6534102cf779ba06eee17f86", # 0.24.0
        "e1b4f534a338fd9f36a8422b3e00f7f0dd5f80f9edd9d83375b625ed8f0e91b2", # 0.25.0
      ].freeze,
      "thrift/server/mongrel_http_server.rb" => [
        "c5ea63a9eb4d92712849619e22002a8fc388462f7f442a88efc65a7598b3104b", # 0.14.0 to 0.22.0
        "d477baa8cad71eda1234444840b872c93844f3a492a0da4367472132548509d3", # 0.23.0
        "185de335eb21338cc2df36523f9a5df203ebf301ec0413a3cd66d8cac419f4d0", # 0.24.0
      ].freeze,
      "thrift/server/nonblocking_server.rb" => [
        "4d740d17ee052cc3693aade50905cc055d76fd6f52ac3f13535428bb99a09030", # 0.14.0 to 0.22.0
        "20a77e95087bc530e784a0ae582e3b6c18b4edab3f1d8e1bb4d64b61d3b1a407", # 0.23.0
        "2e17db53176ad914d631f8f5cb3e9a7dc09838e3af5cf61544c9a3cb41ac7638", # 0.24.0
        "7506fd4ec3b03c21f16df346c1aea9596b50ac903b89dafd179347768a54ecc4", # 0.25.0
      ].freeze,
      "thrift/server/rack_application.rb" => [
        "5cfe83c68d7cf11494438e0d9c0c1dfc1502f2889536e5c72ab61655d8356c87", # 0.25.0
      ].freeze,
      "thrift/server/simple_server.rb" => [
        "c91723cd5fcc5ae70ddf0be108871a5bf35de1de00b0f8e17c93539608f4ba4e", # 0.14.0 to 0.22.0
        "048cc43cbcbdbefd19b7f10b66bde31ef25c91829ade361cbbe90084022a416f", # 0.23.0
        "56306f0cfacb3ea5b1c8f8103f6a4b1830d3f8f834d7e5eb92e726ec77d44295", # 0.24.0
        "dcd0446f8442e509780cabdcb7c77903926b9018032f6397e5f1e267a121878c", # 0.25.0
      ].freeze,
      "thrift/server/thin_http_server.rb" => [
        "4ecee142431ed8038341fe578234ba9dd3b5c11cf9ba4e05750091d2e63f7a0e", # 0.14.0 to 0.22.0
        "5dd614f01b9bf1b4ff88bf4a2bdd5e93f77b86329c4043d7cf28418791b50203", # 0.23.0
        "86f285b519d2338f1045338ff66490951c25483f961278186a6300890dcc4730", # 0.24.0
        "219df17f37a116fe7412c90a102629a213bde854682fdfd3db93c21ee2e71ba8", # 0.25.0
      ].freeze,
      "thrift/server/thread_pool_server.rb" => [
        "9e811f4cbd07a7c0c139bb3db999c1435e5cd3e2159e6f0bf12a31e96a81f7f6", # 0.14.0 to 0.22.0
        "ec8d880a68637a0793b4b6a4246ff0eb66566d2898c0340fd80baa61bacfdfcb", # 0.23.0
        "94b05b540c1f28561b28c05689e4e8aa000d61d9046e26801531cf8c3064b5c1", # 0.24.0
        "fd2672b9cd3acfce52aa2ba55a87d6fb9c5a300df2fb0940b8d81709f035c9e8", # 0.25.0
      ].freeze,
      "thrift/server/threaded_server.rb" => [
        "9ef9e8e80a70dd38ebda345105cb786d924787c99ce7faf5804588789cd76cbe", # 0.14.0 to 0.22.0
        "2d48dac135f6f11ae1dbc39fd69686dafd238e7e7bdd2066f54be895319bcd37", # 0.23.0
        "9a7b4e66d3c847bacef67dd545c5868f96b18d57ad0325aad51f0df02bb063d6", # 0.24.0
        "b0fcc4ec6b944cfa6b6b7f213a7e2aa18f3dd7d3dbd2e3e7e5a8a51375c91b84", # 0.25.0
      ].freeze,
      "thrift/struct.rb" => [
        "bcf636b49b985069c0e40ef363a7a30a037e5e858c0f288720892ad1b4ac6e65", # 0.14.0 to 0.22.0
        "a4bbae5a92ed1f18fbf7d50018a8fa72c7d42a78449860a84d0bbf54a016c605", # 0.23.0
        "4c534fca83023ac6d24cee511ba063dbfcbaf8a12b64591a4765c96dbe8dca3b", # 0.24.0
        "9420b387ad929839abff67dc80c211fe189547afad5a6d5fc171948f23a2d91a", # 0.25.0
      ].freeze,
      "thrift/struct_union.rb" => [
        "235a7d97972442083a051c42543db5095381b95461ae5484f8ac11332342a1d4", # 0.14.0 to 0.22.0
        "5abc60a948f2dbf5bf998293882917714fcb7ac377990dab032bf28676b1ab1e", # 0.23.0
        "ffacb6cb23dd5cf49aff5dcd68b37984b4df2480f8ab9c381073c4f23c029d68", # 0.24.0
        "c1c7adae2102eeb90c6a284d098be2db504480834ecfbf94197ab902a365682d", # 0.25.0
      ].freeze,
      "thrift/thrift_native.rb" => [
        "10961d4cfa0acd7de67b3c0c140f40c89a043bfbe4edfcf003f793f12e421a9f", # 0.14.0 to 0.22.0
        "ab11475e7afa8dd1f39307ded2ef37466c00fb60d727843ffe47a621e81a6593", # 0.23.0
        "6b564d38d9886ef3cb8404c696472af2086d9c9738bbc1bbc72b22f3ac416185", # 0.24.0 to 0.25.0
      ].freeze,
      "thrift/transport/base_server_transport.rb" => [
        "b759c66b5d274a22daa464c321f9beac67fcb256a10cf5270a224b2a201c9e55", # 0.14.0 to 0.22.0
        "612551e2ae037ac979e688e1f5da742bfd17b1c9389dc4144d33d5c698718021", # 0.23.0
        "61177e1d99901f1804fe4c29585247a2cab360166f59726c19266bd4e29e2ede", # 0.24.0 to 0.25.0
      ].freeze,
      "thrift/transport/base_transport.rb" => [
        "f6c2ff7cd70a7c7a07831b2454f4c3b448849d1b8da74608349b768646925391", # 0.14.0 to 0.22.0
        "8cbeee12623ea4f3d7e837cb755403ff228ef7861699162683aaf34ab6cbcde6", # 0.23.0
        "b17e3117bb29e6e30f24d6f844c46115b3b9fe6bbb459f943b2c3dca9208b0d2", # 0.24.0
        "d2467ed8ba446f2c9bb86d4ab2755e9d91c01dd5e89b03798aad648ce5bcc34b", # 0.25.0
      ].freeze,
      "thrift/transport/buffered_transport.rb" => [
        "da17b79efae860c7a2b3868fc7fecf0060e9345f0d488b9fe3004df6ecabd275", # 0.14.0 to 0.22.0
        "a351984e9c9209a7f8c13f2b1cc18ff47d646728582b007c19f0b9a1f0d10c42", # 0.23.0
        "77645dba3ef8bc79f71e7de61686e7d6cf046ba2c03b006dfe68fa43e76c51de", # 0.24.0
        "0a59448a2968cbb2275880901826c636c652233b75b929bac7aea20414a4dfcc", # 0.25.0
      ].freeze,
      "thrift/transport/framed_transport.rb" => [
        "03fa42eef1f1630960cf23e024d5a9449c5f305f7aed09646fff8dc8f4c67b5e", # 0.14.0 to 0.22.0
        "d4494fb10b9adb3ed81131ebbbf179561a2a42ea2ad262fe4aa2cc22775e89a9", # 0.23.0
        "f074154a1abd7d4a996fcbe0006dbe437e9efd3feab63793cd23fe47ea2e8b96", # 0.24.0
        "a16cf5b40d36a58cbe01cce839d7fd5d8315c0fc3f8ad9e4a4f591d954afb45c", # 0.25.0
      ].freeze,
      "thrift/transport/header_transport.rb" => [
        "b762a241b8b325bdb26c1e80f29ebb1a3e024a71c0ecec59e6e7f1be0ef0f794", # 0.23.0
        "888bcc5cc3cb4115cc44609895098a3b3e144cdda33e71d77c45ff273b8f2db9", # 0.24.0
        "739bc2434f7434795523229f1abd1aa8c45cf47541291c0c3d4d31703d4ed1aa", # 0.25.0
      ].freeze,
      "thrift/transport/http_client_transport.rb" => [
        "64e98417bb47ba502bc4d6932a47bc864caffefe3c825899a0dbc21c453f372e", # 0.14.0 to 0.22.0
        "d85c05d4034bbd99adad5fd9ed7ce92d78baec64463504f8f2c5e15b5a582f37", # 0.23.0
        "db4b6ffc988021cb710e04ee7ccd7ca8261ba177d364c4d58a35a20ce52f5d67", # 0.24.0
        "73259efe1be28851b203496a7ae9bd310ed547f9185bee20fbec101fb3e9546c", # 0.25.0
      ].freeze,
      "thrift/transport/io_stream_transport.rb" => [
        "f0cf8fe9aaff8cc9b70abbeba5664045bdb6d75fb3251d7ffa6530dce45c7fb4", # 0.14.0 to 0.22.0
        "307893d2be35b40c5ef7faf34ab74143a7bf346dcce4ce1f477c420c5cb0968f", # 0.23.0
        "7288c0af3eb08b65bce213da40d5a29920fc710de7d1b4cefe0c792ef1ef2203", # 0.24.0
        "026a80a99be0ede84c108e38e7133546c789e5b3840ef7eaa55dff483cbfa7c2", # 0.25.0
      ].freeze,
      "thrift/transport/memory_buffer_transport.rb" => [
        "073018ec5309fa8dcf71c96b693e354ca206db1820b9c1a9f5f3749b16cca5fb", # 0.14.0 to 0.22.0
        "0a2367baf153663844b5f6dc51a1b084c4ce286ec9b8272e6885a3cb8e225aa4", # 0.23.0
        "3112863e644acb520e8a00d6eb6165712ffdfeb466a2e65992d6ce62b8c00f34", # 0.24.0
        "1635c3d06d64b4476bfd0372c37afb16f0b64e2a02b41249fdb8c07f03a0dd3c", # 0.25.0
      ].freeze,
      "thrift/transport/server_socket.rb" => [
        "91e52eb1b675bb4d9585e83bc44aca4dc37a206383cdbeb2bc8b243f6eb0d430", # 0.14.0 to 0.22.0
        "8fa754523df13e6c6f720171a83c2f68d1572e141413ebed8bcffba23bb635b4", # 0.23.0
        "3fb3423c6101410424037f78a609f4eaea02494bf3678e87c2d9210e08f2f437", # 0.24.0
        "fe321dd6d89dfd8ccd5630ac9f6930a76c2242b8b333830919f638517e2d4895", # 0.25.0
      ].freeze,
      "thrift/transport/socket.rb" => [
        "cdcdf8ac2dbc7f36f40b276654722eb7ac849eef252ea5e3689528f4547c8518", # 0.14.0 to 0.22.0
        "0989ae0178fa656c96e01391391247967195e56b2c24b28463f3f507f3164355", # 0.23.0
        "3986f13289827b085c10dfa7447faf3e781f05703f07851b9102b46ee96ce620", # 0.24.0
        "f75c0fb1ce889ab5f8877b33ab633876c413f5bb1cfb1c3fcdc104fc93522b7d", # 0.25.0
      ].freeze,
      "thrift/transport/ssl_server_socket.rb" => [
        "8a50d764f5abaf9fa49dd55dd32a1e81de847dce1ea55a4fd5e9b8c84045b6fa", # 0.14.0 to 0.22.0
        "21fe2842b921ddcbd873d2bfa9bfee61979e555653bdf4ec798d9f34d5d9bb96", # 0.23.0
        "91da039589344cfd2dd9e146a9b6993104a0b28247e019b50a3bc43480cd9c18", # 0.24.0
        "5087db3eafd7999a692fbb78539187624f6b14db5f8d25671724f0fd9ca3618a", # 0.25.0
      ].freeze,
      "thrift/transport/ssl_socket.rb" => [
        "e6edb1e6d8ca57c22ad1099e54dbdb39cf9bfaf75c212d9e07cc4708ceae1d22", # 0.14.0 to 0.22.0
        "badf67c0218e972c4f39bc74952abb99c3824a9cd2586f89fc97b03bae0b703d", # 0.23.0
        "7931aecbf320724419c948afd1f5f6de37f1e86e62b7d3f169ffc51e0dfc486d", # 0.24.0
        "9487a566d5947b4a3da4e37583fa2cb6603d6108af0f6fb818305cfaacff0ba3", # 0.25.0
      ].freeze,
      "thrift/transport/unix_server_socket.rb" => [
        "bc76d0f5b91cafc403f04812646a667648a1507b6b45578612abdc9cfcf64892", # 0.14.0 to 0.22.0
        "b567d20bdef0df766369a6b10e5726a31840774baf4c1a294dfcc9180202a75f", # 0.23.0
        "83251c3206cd6bfb3d33d197943b3f185522aef09e65beccc4a01a139ca7260e", # 0.24.0
        "f8b8509f148478537fc8e8746c0b0ab4ebd8bf7939d25c99a9cc240a4d4e4fdd", # 0.25.0
      ].freeze,
      "thrift/transport/unix_socket.rb" => [
        "e168b431e1b811b839bcac254e0ec3aaec8f57d0fdfbd47fdd1fb184fadc33f9", # 0.14.0 to 0.22.0
        "9577441e07a4108f9959b0dc1e77ec5e173880121ef599cde51a9dfb00166a76", # 0.23.0
        "0bb96b75e22509b93934309984a06901e75c7443e2a649446eb6785eab88d3bf", # 0.24.0
        "7b7011daa3f95afbe7bca76f5f459f69a15c94a9da3593c0385e14c03d6612f0", # 0.25.0
      ].freeze,
      "thrift/types.rb" => [
        "c75e464354c9089f6b69856f8f9224467f4e6c3dc71d377cfbdce982f93da47c", # 0.14.0 to 0.22.0
        "03e2b38da4c994b8ef1e7960fddd7ca721b355bc3dc426db9bf03e0ad20248ef", # 0.23.0
        "710107a3fca39dc5430bf21b30959eacc3af4d211204ca6804209e0f8dbc21c3", # 0.24.0
        "ac633f375cc9adb540ef6fb8b57a7d13c804bcf844dc0c2f35190cd9223290a2", # 0.25.0
      ].freeze,
      "thrift/union.rb" => [
        "04c3d989da4b154e509fd7feebde91428b23a3336a81a1c24dbb01edbc458c3b", # 0.14.0 to 0.22.0
        "d279a7e7e5dd2ab218cc045f2bdf72342a363855519d85ab23adc74394b8d94d", # 0.23.0
        "2dd6a01e2fdc61967d04ef69a343ababc4035dde301d3be5bba88d540557d006", # 0.24.0
        "8bc6380cd51ca14f02bcf836384b2120ecaa22e8417e2541bd6c32b96f64f86e", # 0.25.0
      ].freeze,
      "thrift/uuid.rb" => [
        "2c5e78ea3c9fe49810087b0ba77c99ac9e49386a2187e26a168d3fea489d0bce", # 0.23.0
        "b2ad5478c651238fc846c0344c8a3c704e8887d9e3688d7eb105d18471e72856", # 0.24.0
        "f44a0a0b20df26026ecac42f53cc2fcb607f8d5ca12fd2a2d4bb698adeb1473f", # 0.25.0
      ].freeze,
    }.freeze
  end
end
