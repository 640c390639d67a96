import Base

/// Content as other programs packed it: gzip, Python's zlib, brotli and zstd.
enum PackedContent {
    /// What all but the zeros unpack to.
    static let text: [UInt8] = Array(
        (0..<40).map { "line \($0) of the content\n" }.joined().utf8)
    /// How many zeros `brotliZeros` and `zstdZeros` unpack to.
    static let zeroCount = 1 << 20

    /// `gzip -n -9`.
    static let gzip = packed(
        "1f8b080000000000020375d2310e83300043d19d53e408d886969ea70a02098525f757d5999ff56f4ff6"
            + "75b65ae672efa51fb57cefd66bebd3f5afc26aacc1ba605db1beb0beb16e583fac18e05827e6897d62a0"
            + "5828268a8d62a45869567ab0212bcd4ab3d2ac342bcd4ab3d2ac0c2bc3ca0caecacab032ac0c2bc3cab0"
            + "320fe50f2bc2686e8e030000")

    /// `zlib.compress(text, 9)`.
    static let zlib = packed(
        "78da75d2310e83300043d19d53e408d886969ea70a02098525f757d5999ff56f4ff675b65ae672efa51f"
            + "b57cefd66bebd3f5afc26aacc1ba605db1beb0beb16e583fac18e05827e6897d62a05828268a8d62a458"
            + "69567ab0212bcd4ab3d2ac342bcd4ab3d2ac0c2bc3ca0caecacab032ac0c2bc3cab0320fe50f76fe3098"
    )

    /// The same without the zlib header and trailer.
    static let rawDeflate = packed(
        "75d2310e83300043d19d53e408d886969ea70a02098525f757d5999ff56f4ff675b65ae672efa51fb57c"
            + "efd66bebd3f5afc26aacc1ba605db1beb0beb16e583fac18e05827e6897d62a05828268a8d62a4586956"
            + "7ab0212bcd4ab3d2ac342bcd4ab3d2ac0c2bc3ca0caecacab032ac0c2bc3cab0320fe50f")

    /// `BrotliEncoderCompress` with quality 9.
    static let brotli = packed(
        "1b8d03000404ddf4336a42ae2d570a0409010b3cdd7b61ab717d307cc680a300a765fcfddeff996b4ed3"
            + "e7dffd8ea469bbde7aefa3cfbefa5e28f8c3800103060c183060000882200882200842100441100441e7"
            + "00")

    /// `gzip` above, packed again.
    static let brotliOfGzip = packed(
        "8b44801f8b080000000000020375d2310e83300043d19d53e408d886969ea70a02098525f757d5999ff5"
            + "6f4ff675b65ae672efa51fb57cefd66bebd3f5afc26aacc1ba605db1beb0beb16e583fac18e05827e689"
            + "7d62a05828268a8d62a45869567ab0212bcd4ab3d2ac342bcd4ab3d2ac0c2bc3ca0caecacab032ac0c2b"
            + "c3cab0320fe50f2bc2686e8e03000003")

    /// 1 MiB of zeros.
    static let brotliZeros = packed(
        "5bffff0f4002201e0b24f7fe01")

    /// `zstd -19 --no-check`.
    static let zstd = packed(
        "28b52ffd608e02dd0200d2c30b10b0eb3f4f0d42c394695a92223006ba12ffffffbf6ddbb6ddb66ddb1e"
            + "53c81077c16bf99a4398ea61721830db620128a811f0ebff0680a3d2031134047f43f0f90127619f16ed"
            + "b3cd2e4bf658b1c3825da454bd0c094435")

    /// 1 MiB of zeros with a checksum.
    static let zstdZeros = packed(
        "28b52ffd04684c000008000100fcff391002020010000200100002001000020010000200100002001000"
            + "03001000f13e16e1")

    /// The start of a frame with a window of 128 MiB.
    static let zstdLongWindow = packed(
        "28b52ffd04884c000008000100fcff391002020010000200100002001000020010000200100002001000"
            + "02001000020010000200100002001000020010000200")

    private static func packed(_ text: String) -> [UInt8] {
        bytes(fromHex: text) ?? []
    }
}
