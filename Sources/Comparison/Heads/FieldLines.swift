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
        self.init(section.split(separator: UInt8(ascii: "\n"))[...])
    }

    /// The fields of two heads without those that both start or end with.
    static func unlike(_ left: [UInt8], _ right: [UInt8]) -> (FieldLines, FieldLines) {
        var before = left.split(separator: UInt8(ascii: "\n")).dropFirst()
        var after = right.split(separator: UInt8(ascii: "\n")).dropFirst()
        // A folded line means something only behind its field.
        func mayDrop(_ lines: ArraySlice<ArraySlice<UInt8>>) -> Bool {
            lines.dropFirst().first.map { $0.first != 0x20 && $0.first != 0x09 } ?? true
        }
        while let line = before.first, let other = after.first, line == other, mayDrop(before),
            mayDrop(after)
        {
            before.removeFirst()
            after.removeFirst()
        }
        while let line = before.last, let other = after.last, line == other {
            before.removeLast()
            after.removeLast()
        }
        return (FieldLines(before), FieldLines(after))
    }

    private init(_ section: ArraySlice<ArraySlice<UInt8>>) {
        for line in section {
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
