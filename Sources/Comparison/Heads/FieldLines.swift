internal import Base
internal import HTTPModel

/// The fields of a recorded head or trailer section, malformed ones too, as far as they go.
struct FieldLines {
    struct Line {
        /// In lower case.
        let name: String
        /// With folded lines joined.
        var value: [UInt8]
    }

    private(set) var lines: [Line] = []

    /// - Parameter head: with its start line.
    init(head: [UInt8]) {
        let end = head.firstIndex(of: UInt8(ascii: "\n")) ?? head.count
        self.init(section: head[min(end + 1, head.count)...])
    }

    init(section: ArraySlice<UInt8>) {
        for line in section.split(separator: UInt8(ascii: "\n")) {
            let isFolded = line.first == 0x20 || line.first == 0x09
            let line = line.last == 0x0D ? line.dropLast() : line
            if isFolded, !lines.isEmpty {
                lines[lines.count - 1].value += [0x20] + line.trimmingWhitespace
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                let name = line[..<colon].trimmingWhitespace.map(\.asciiLowercased).text
                let value = Array(line[(colon + 1)...].trimmingWhitespace)
                lines.append(Line(name: name, value: value))
            } else if !line.isEmpty {
                lines.append(Line(name: "", value: Array(line)))
            }
        }
    }

    /// The values of the fields of this name, in wire order.
    func values(_ name: String) -> [[UInt8]] {
        lines.filter { $0.name == name }.map(\.value)
    }
}
