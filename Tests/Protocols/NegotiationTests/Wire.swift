import Base

/// Text in which `~HH` stands for one byte, for what no string can hold.
func wire(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == 0x7E, let value = bytes(fromHex: rest.prefix(2).text), value.count == 1 {
            result += value
            rest = rest.dropFirst(2)
        } else {
            result.append(byte)
        }
    }
    return result
}

/// How bytes come in: whole, one by one, or in two pieces.
enum Cut: CustomStringConvertible {
    case whole
    case single
    case at(Int)

    func pieces(of bytes: [UInt8], from offset: Int = 0) -> [[UInt8]] {
        switch self {
        case .whole: return bytes.isEmpty ? [] : [bytes]
        case .single: return bytes.map { [$0] }
        case .at(let cut):
            let place = min(max(cut - offset, 0), bytes.count)
            return [Array(bytes[..<place]), Array(bytes[place...])].filter { !$0.isEmpty }
        }
    }

    /// All ways but the first.
    static func all(of count: Int) -> [Cut] {
        [.single] + (0...count).map { .at($0) }
    }

    var description: String {
        switch self {
        case .whole: "whole"
        case .single: "byte by byte"
        case .at(let cut): "cut at \(cut)"
        }
    }
}
