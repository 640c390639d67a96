internal import Base

/// A QR code (ISO/IEC 18004): bytes, error correction of level M, versions 1 to 6, which hold the
/// longest URL of an address twice.
struct QRCode: Sendable, Equatable {
    /// Modules on a side.
    let size: Int
    /// Row by row; `true` is dark.
    private(set) var modules: [Bool]
    /// Where finders, timing and the format stand.
    private var isReserved: [Bool]

    /// - Parameter mask: 0 to 7; `nil` for the one that is easiest to read.
    /// - Returns: `nil` for more than 106 bytes.
    init?(_ bytes: [UInt8], mask: Int? = nil) {
        guard let version = QRVersion.holding(bytes.count) else { return nil }
        self.init(version)
        place(version.codewords(of: bytes))
        let candidates = (mask.map { $0...$0 } ?? 0...7).map { masked($0) }
        guard let best = candidates.min(by: { $0.penalty < $1.penalty }) else { return nil }
        self = best
    }

    subscript(_ column: Int, _ row: Int) -> Bool { modules[row * size + column] }

    // MARK: What every code of a version has

    private init(_ version: QRVersion) {
        size = version.size
        modules = [Bool](repeating: false, count: size * size)
        isReserved = modules
        for index in 0..<size {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (column, row) in [(3, 3), (size - 4, 3), (3, size - 4)] {
            square(column, row, 4) { $0 != 2 && $0 != 4 }
        }
        if version.number > 1 { square(size - 7, size - 7, 2) { $0 != 1 } }
        reserveFormat()
    }

    /// Draws rings around a module; what would be outside of the code is left out.
    private mutating func square(
        _ column: Int, _ row: Int, _ radius: Int, isDark: (_ ring: Int) -> Bool
    ) {
        for y in max(0, row - radius)...min(size - 1, row + radius) {
            for x in max(0, column - radius)...min(size - 1, column + radius) {
                set(x, y, isDark(max(abs(x - column), abs(y - row))))
            }
        }
    }

    private mutating func set(_ column: Int, _ row: Int, _ isDark: Bool) {
        modules[row * size + column] = isDark
        isReserved[row * size + column] = true
    }

    // MARK: The format

    private mutating func reserveFormat() {
        for places in formatPlaces {
            for (column, row) in places { set(column, row, false) }
        }
        set(8, size - 8, true)
    }

    /// Where each of the 15 bits stands, the last first, twice.
    private var formatPlaces: [[(Int, Int)]] {
        (0..<15).map { bit in
            let besides = bit < 8 ? (size - 1 - bit, 8) : (8, size - 15 + bit)
            switch bit {
            case 0..<6: return [(8, bit), besides]
            case 6: return [(8, 7), besides]
            case 7: return [(8, 8), besides]
            case 8: return [(7, 8), besides]
            default: return [(14 - bit, 8), besides]
            }
        }
    }

    /// The mask, and level M, which is 0, with ten bits of a BCH code.
    private mutating func drawFormat(_ mask: Int) {
        var rest = mask << 10
        for bit in stride(from: 14, through: 10, by: -1) where rest >> bit & 1 == 1 {
            rest ^= 0x537 << (bit - 10)
        }
        let bits = (mask << 10 | rest) ^ 0x5412
        for (bit, places) in formatPlaces.enumerated() {
            for (column, row) in places { set(column, row, bits >> bit & 1 == 1) }
        }
    }

    // MARK: The content

    /// Fills what is free in columns of two, upwards and downwards in turn, from the right.
    private mutating func place(_ codewords: [UInt8]) {
        var index = 0
        let rights = Array(stride(from: size - 1, to: 6, by: -2)) + [5, 3, 1]
        for (turn, right) in rights.enumerated() {
            for step in 0..<size {
                let row = turn % 2 == 0 ? size - 1 - step : step
                for column in [right, right - 1] where !isReserved[row * size + column] {
                    guard index < codewords.count * 8 else { continue }
                    modules[row * size + column] =
                        codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                    index += 1
                }
            }
        }
    }

    private func masked(_ mask: Int) -> QRCode {
        var code = self
        for y in 0..<size {
            for x in 0..<size where !isReserved[y * size + x] && Self.inverts(mask, x, y) {
                code.modules[y * size + x].toggle()
            }
        }
        code.drawFormat(mask)
        return code
    }

    private static func inverts(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    // MARK: How hard it is to read

    private var penalty: Int {
        let lines = (0..<size).flatMap { index in
            [(0..<size).map { self[$0, index] }, (0..<size).map { self[index, $0] }]
        }
        let dark = modules.count(where: \.self)
        let imbalance = abs(dark * 20 - modules.count * 10) / modules.count
        return lines.reduce(0) { $0 + Self.penalty(of: $1) } + blocks * 3 + imbalance * 10
    }

    /// Squares of four modules of one colour.
    private var blocks: Int {
        var count = 0
        for y in 1..<size {
            for x in 1..<size {
                let colour = self[x, y]
                if self[x - 1, y] == colour, self[x, y - 1] == colour, self[x - 1, y - 1] == colour
                {
                    count += 1
                }
            }
        }
        return count
    }

    /// Of runs of one colour, and of what looks like a finder.
    private static func penalty(of line: [Bool]) -> Int {
        var total = 0
        var run = 0
        for (index, module) in line.enumerated() {
            run = index > 0 && line[index - 1] == module ? run + 1 : 1
            if run == 5 { total += 3 } else if run > 5 { total += 1 }
        }
        for start in 0...(line.count - finder.count) {
            let part = line[start..<(start + finder.count)]
            if part.elementsEqual(finder) || part.reversed().elementsEqual(finder) { total += 40 }
        }
        return total
    }

    private static let finder = "10111010000".utf8.map { $0 == UInt8(ascii: "1") }
}

extension QRCode {
    /// A picture with the white margin that readers need, whatever is around it.
    func picture(_ label: String) -> String {
        var path = ""
        for y in 0..<size {
            for x in 0..<size where self[x, y] { path += "M\(x + 4) \(y + 4)h1v1h-1z" }
        }
        let side = size + 8
        return """
            <svg role="img" aria-label="\(MarkupText.escaped(label))" viewBox="0 0 \(side) \(side)" \
            shape-rendering="crispEdges"><rect width="\(side)" height="\(side)" fill="#fff"/>\
            <path fill="#000" d="\(path)"/></svg>
            """
    }
}
