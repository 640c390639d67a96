internal import Base

/// Bytes in hexadecimal with their offsets and, where they are, their ASCII characters.
package enum HexDump {
    package static func render(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        var result = ""
        for start in stride(from: 0, to: bytes.count, by: rowLength) {
            let row = bytes[start..<min(start + rowLength, bytes.count)]
            let offset = String(start, radix: 16)
            result += String(repeating: "0", count: max(0, 8 - offset.utf8.count)) + offset + " "
            for (index, byte) in row.enumerated() {
                result += (index == rowLength / 2 ? "  " : " ") + [byte].hex
            }
            let missing = (rowLength - row.count) * 3 + (row.count <= rowLength / 2 ? 1 : 0)
            result += String(repeating: " ", count: missing + 2)
            result += "|" + row.map { $0 &- 0x20 < 0x5F ? $0 : UInt8(ascii: ".") }.text + "|\n"
        }
        return result
    }

    private static let rowLength = 16
}
