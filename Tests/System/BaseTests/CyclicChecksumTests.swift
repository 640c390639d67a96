import Base
import Testing

struct CyclicChecksumTests {
    /// The check values of the catalogue of parametrised CRC algorithms, and more than eight bytes
    /// at a time.
    @Test(arguments: [
        (CyclicChecksum.crc32, "123456789", "cbf43926"),
        (.crc32c, "123456789", "e3069283"),
        (.crc64nvme, "123456789", "ae8b14860a799888"),
        (.crc32, "", "00000000"),
        (.crc64nvme, "", "0000000000000000"),
        (.crc32, "The quick brown fox jumps over the lazy dog", "414fa339"),
        (.crc32c, "The quick brown fox jumps over the lazy dog", "22620404"),
    ])
    func agrees(_ checksum: CyclicChecksum, _ text: String, _ expected: String) {
        let bytes = [UInt8](text.utf8)
        for cut in 0...bytes.count {
            let running = RunningChecksum(checksum)
            running.update(Array(bytes[..<cut]))
            running.update(Array(bytes[cut...]))
            #expect(running.finish().hex == expected)
        }
    }
}
